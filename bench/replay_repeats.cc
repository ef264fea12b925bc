// Measures how much the medians of one kernel vary over many judgements on a GPU, and why. Each
// experiment judges one plan twenty times, an operator on 2048 x 16384 floats (70 us on an H200).
// Its buffers lie where the allocator puts them, elsewhere in each judgement, or always at one
// address. It takes the referee's number of rounds (timing.h) or more. round_noise.h explains the
// columns. How to read the result:
//
//   `between` far above 1, and near 1 in "one trial": the address of the buffers decides.
//   `between` still above 1 in "one trial": clocks (see the MHz) or another drift decide.
//   `first` or `referenced` not near 0: the work before a round decides.
//   `neighbours` far below 0: rounds alternate.
//   `heaps` far above 2.7: there are two states. The estimators beside the median of all rounds
//   then show the value of another estimator.
//
//   replay_repeats [seconds in all] [aten operator of one tensor, with an `out` overload]
#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <fmt/format.h>

#include <cstdlib>

#include "base/json.h"
#include "gym/cuda/nvml.h"
#include "gym/device/cuda_device.h"
#include "gym/language/triton/cuda_executor.h"
#include "gym/plan/testing/plan_builder.h"
#include "gym/timing/timing.h"
#include "round_noise.h"

namespace tritonsmith::gym {
namespace {

constexpr std::int64_t kRows = 2048, kColumns = 16384;
constexpr int kJudgements = 20;

// Reads the multiprocessors' clock, if the machine's driver tells it.
class MultiprocessorClock {
 public:
  explicit MultiprocessorClock(const std::string& bus_id) {
    const auto nvml = cuda::load_nvml();
    if (!nvml) return;
    if (auto meter = cuda::ClockMeter::open(*nvml, bus_id)) meter_ = *std::move(meter);
  }
  // Returns the clock in MHz, or 0 if unknown.
  unsigned now() const {
    const auto clocks = meter_ ? meter_->now() : std::nullopt;
    return clocks ? static_cast<unsigned>(clocks->sm_mhz) : 0;
  }

 private:
  std::optional<cuda::ClockMeter> meter_;
};

struct Plans {
  plan::Plan task, candidate;
};

Plans plans_of(const std::string& op) {
  plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
  const int x = task.tensor({kRows, kColumns}), y = task.tensor({kRows, kColumns});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({kRows, kColumns})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, op, {plan::t(x)}, {y})
      .returns(plan::t(y));
  // As a kernel's, its output lies in a buffer that forward reserves.
  const int own = candidate.tensor({kRows, kColumns}), buffer = candidate.tensor({kRows, kColumns}),
            written = candidate.view(buffer, {kRows, kColumns}, {kColumns, 1});
  candidate.input(plan::t(own))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(own)}, {buffer})
      .aten(plan::Phase::forward, op + ".out", {plan::t(own)}, {written},
            {{"out", plan::t(buffer)}})
      .returns(plan::t(buffer));
  return {task.plan(), candidate.plan()};
}

struct Experiment {
  std::string name;
  timing::TimingLimits limits;
  bool fresh_memory = false;  // all memory given back, and a hole left, before each judgement
  bool one_trial = false;     // inputs drawn once, the same buffers throughout
};

std::vector<Experiment> experiments() {
  return {{.name = "as it is"},
          {.name = "fresh memory", .fresh_memory = true},
          {.name = "one trial", .one_trial = true},
          {.name = "96 rounds", .limits = {.least_rounds = 96}},
          {.name = "96 rounds, one trial", .limits = {.least_rounds = 96}, .one_trial = true},
          {.name = "96 rounds, fresh memory", .limits = {.least_rounds = 96}, .fresh_memory = true},
          {.name = "as it is, again"}};
}

class Laboratory {
 public:
  Laboratory(std::unique_ptr<device::CudaDevice> device, Plans plans)
      : device_(std::move(device)),
        plans_(std::move(plans)),
        executor_(device_->driver()),
        clock_(device_->facts().bus_id) {}

  Status run(const Experiment& experiment) {
    std::vector<Rounds> judgements;
    std::vector<double> reference, told;
    std::vector<unsigned> mhz;
    std::unique_ptr<trial::FinishedTrial> trial;
    const Stopwatch watch;
    for (int k = 0; k < kJudgements; ++k) {
      if (experiment.fresh_memory) move_memory(k);
      if (!trial || !experiment.one_trial) {
        trial.reset();  // its memory serves the next one
        TRY_ASSIGN(trial, tried(k));
      }
      timing::TimingLimits limits = experiment.limits;
      limits.known_reference = &reference;
      Rounds rounds;
      limits.rounds = &rounds;
      mhz.push_back(clock_.now());
      const timing::TimingOutcome outcome = timing::time_trial(*trial, *device_, limits);
      if (outcome.stop) return fail("{}: {}", experiment.name, outcome.stop->error.message);
      judgements.push_back(std::move(rounds));
      told.push_back(outcome.timing->candidate.median);
    }
    const auto [low, high] = std::ranges::minmax(told);
    fmt::print("| {} | {:.2f} % ", experiment.name, 100 * (high / low - 1));
    print(judgements, mhz, watch.seconds());
    if (rows_.empty()) keep_rows(judgements);
    return ok();
  }

  // Rounds of the first experiment's first judgements in order. A star follows the first round of a
  // batch, an r follows rounds after the reference.
  const std::string& rows() const { return rows_; }

  static void print_head() {
    fmt::print(
        "| experiment | told apart | medians, us | of rounds | midmean | pairs | of 3 | of 8 | "
        "rounds | p10-p90 | "
        "between | neighbours | heaps (upper) | first | referenced | step ns | MHz | s |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  }

 private:
  Result<std::unique_ptr<trial::FinishedTrial>> tried(int number) {
    const trial::TrialConfig config{.task = plans_.task,
                                    .candidate = plans_.candidate,
                                    .secret = "repeats",
                                    .trial = number,
                                    .memory_bytes = std::int64_t{8} << 30,
                                    .keeping = trial::StateKeeping::watched};
    auto trial =
        std::make_unique<trial::FinishedTrial>(trial::finish_trial(config, executor_, *device_));
    for (const auto* stop : {&trial->result.candidate_stop, &trial->result.reference_stop})
      if (*stop) return fail("the trial: {}", (*stop)->error.message);
    return trial;
  }

  // Odd sizes, so that the next allocation lies elsewhere.
  void move_memory(int number) {
    hole_ = at::Tensor();
    c10::getDeviceAllocator(c10::kCUDA)->emptyCache();
    hole_ = at::empty({(1 + number) * std::int64_t{37 << 20}},
                      at::dtype(at::kByte).device(device_->torch_device()));
  }

  static void print(const std::vector<Rounds>& judgements, const std::vector<unsigned>& mhz,
                    double seconds) {
    const RoundNoise noise = noise_of(judgements);
    const auto [slowest, fastest] = std::ranges::minmax(mhz);
    fmt::print(
        "| {:.2f}-{:.2f} | {:.2f} % | {:.2f} % | {:.2f} % | {:.2f} % | {:.2f} % | {} | {:.2f} % "
        "| {:.1f} | {:+.2f} | {:.1f} ({:.0f} %) | {:+.2f} % | {:+.2f} % | {:.0f} | {}-{} | {:.1f} "
        "|\n",
        1e3 * noise.low_ms, 1e3 * noise.high_ms, 100 * noise.apart,
        100 * apart(judgements, midmean_of), 100 * apart(judgements, median_of_means(2)),
        100 * apart(judgements, median_of_means(3)), 100 * apart(judgements, median_of_means(8)),
        noise.rounds, 100 * noise.spread, noise.between, noise.neighbours, noise.heaps,
        100 * noise.upper_share, 100 * noise.first, 100 * noise.referenced, noise.step_ns, slowest,
        fastest, seconds);
    std::fflush(stdout);
  }

  void keep_rows(const std::vector<Rounds>& judgements) {
    for (std::size_t k = 0; k < 3; ++k) {
      rows_ += fmt::format("judgement {}:", k);
      for (const timing::TimedRound& round : judgements[k])
        rows_ += fmt::format(" {:.3f}{}{}", 1e3 * round.candidate_ms, round.is_first ? "*" : "",
                             round.with_reference ? "r" : "");
      rows_ += "\n";
    }
  }

  std::unique_ptr<device::CudaDevice> device_;
  Plans plans_;
  language::triton::CudaExecutor executor_;
  MultiprocessorClock clock_;
  at::Tensor hole_;
  std::string rows_;
};

Status measure(double seconds, const std::string& op) {
  if (cuda::list_gpus().empty()) return fail("no GPU is here");
  const auto end =
      Deadline::after(std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds)));
  TRY_ASSIGN(auto device, device::CudaDevice::open(0));
  fmt::print("{}, L2 of {:.0f} MB, {}\n", device->facts().name,
             static_cast<double>(device->facts().cache_bytes) / 1e6, op);
  Laboratory laboratory(std::move(device), plans_of(op));
  Laboratory::print_head();
  for (const Experiment& experiment : experiments()) {
    if (end.passed()) return fail("out of time before `{}`", experiment.name);
    TRY(laboratory.run(experiment));
  }
  fmt::print("{}", laboratory.rows());
  return ok();
}

}  // namespace
}  // namespace tritonsmith::gym

int main(int argc, char** argv) {
  const auto status = tritonsmith::gym::measure(argc > 1 ? std::atof(argv[1]) : 60,
                                                argc > 2 ? argv[2] : "aten::sigmoid");
  if (!status) fmt::print(stderr, "replay_repeats: {}\n", status.error().message);
  return status ? 0 : 1;
}
