// Verdicts per second of a LocalJudge with a GPU: distinct correct kernels of six elementwise
// operators, written by our own teacher in several styles. It uses five trials, timing, no store,
// and a new guest for each kernel. After a warm-up it prints the rate, the time of each stage, the
// width of the medians' 95 % intervals, and the variation between medians of equal kernels.
//
//   replay_throughput [verdicts] [guests] [compilers] [rows] [columns] [repeats of one kernel]
//   replay_throughput --url URL [verdicts] [rows] [columns]   through a `gym serve`
//   replay_throughput --write DIRECTORY      writes one task and one kernel for do_bench.py
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "curriculum/teacher/solution.h"
#include "curriculum/torch_source.h"
#include "gym/judge/local_judge.h"
#include "gym/remote/remote_judge.h"
#include "inspect/inspect.h"
#include "referee_program.h"

namespace tritonsmith {
namespace {

using curriculum::Op;
constexpr std::array kOperators = {Op::relu, Op::sigmoid, Op::tanh,
                                   Op::silu, Op::gelu,    Op::softplus};
constexpr int kWarmUp = 12;

curriculum::Program program_of(Op op) {
  return {.inputs = {{.name = "x"}}, .root = curriculum::apply(op, {}, {curriculum::leaf(0)})};
}

// Another name gives another IR, so the compile cache never answers.
std::string renamed(std::string code, int number) {
  const std::string_view mark = "@triton.jit\ndef ";
  const auto begin = code.find(mark) + mark.size();
  const std::string name = code.substr(begin, code.find('(', begin) - begin);
  const std::string fresh = fmt::format("{}_{}", name, number);
  for (std::size_t at = 0; (at = code.find(name, at)) != std::string::npos; at += fresh.size()) {
    // after a dot the name belongs to another module, as in tl.sigmoid
    const char before = at == 0 ? ' ' : code[at - 1];
    const bool whole =
        std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_' && before != '.';
    const char after = at + name.size() < code.size() ? code[at + name.size()] : ' ';
    if (whole && (after == '(' || after == '[')) code.replace(at, name.size(), fresh);
  }
  return code;
}

struct Shape {
  int rows = 2048, columns = 16384;
};

gym::api::JudgeJob job(int number, Shape shape,
                       std::optional<curriculum::Style> style = std::nullopt) {
  const auto program =
      program_of(kOperators.at(static_cast<std::size_t>(number) % kOperators.size()));
  const curriculum::Sizes sizes{.lead = {shape.rows}, .n = shape.columns};
  Rng task_rng(1, "bench-task", 0), rng(1, "bench-kernel", static_cast<std::uint64_t>(number));
  auto styles = curriculum::styles_for(program, sizes, TaskScale::gpu);
  std::erase(styles, curriculum::Style::autotune);
  const auto chosen = style.value_or(
      styles.at(static_cast<std::size_t>(number) / kOperators.size() % styles.size()));
  auto solution = curriculum::write_solution(program, chosen, TaskScale::gpu, rng);
  if (!solution)
    solution = curriculum::write_solution(program, curriculum::Style::flat, TaskScale::gpu, rng);
  return {.id = static_cast<std::uint64_t>(number),
          .task = {.id = "bench",
                   .source = curriculum::torch_source(program, sizes, curriculum::Idioms::plain,
                                                      task_rng)},
          .kernel = renamed(solution->code, number),
          .trials = 5,
          .use_store = false};
}

// Returns the distance of the median from the farther end of its 95 % interval, relative to the
// median.
double reach_of(const Timing& timing) {
  if (timing.median_high <= 0) return std::numeric_limits<double>::infinity();
  return std::max(timing.median_high / timing.median - 1, 1 - timing.median_low / timing.median);
}

struct Tally {
  int accepted = 0;
  std::vector<double> reach, reference_reach;  // one for each verdict
  double samples = 0, spread = 0;              // spread: p90 - p10 as a share of the median
  std::map<int, int> by_samples;               // verdicts with at most this many samples
  std::map<std::string, double> stage_ms;
  std::vector<double> medians, alone_ms;
  std::string first_failure, first_verdict;
};

Status take(gym::api::Judge& judge, int count, Tally& tally) {
  for (int k = 0; k < count; ++k) {
    TRY_ASSIGN(const auto judged, judge.next(Deadline::never()));
    if (!judged) return fail("a verdict is missing");
    const Verdict& verdict = judged->verdict;
    if (verdict.accepted && verdict.time_ms && verdict.reference_ms) {
      ++tally.accepted;
      tally.samples += verdict.time_ms->n;
      tally.spread += (verdict.time_ms->p90 - verdict.time_ms->p10) / verdict.time_ms->median;
      ++tally.by_samples[(verdict.time_ms->n + 5) / 6 * 6];
      tally.medians.push_back(verdict.time_ms->median);
      tally.reach.push_back(reach_of(*verdict.time_ms));
      tally.reference_reach.push_back(reach_of(*verdict.reference_ms));
    } else if (tally.first_failure.empty()) {
      tally.first_failure = to_line(to_json(verdict));
    }
    tally.first_verdict = to_line(to_json(verdict));
    for (const auto& [stage, ms] : verdict.stage_ms) tally.stage_ms[stage] += ms;
  }
  return ok();
}

int argument(int argc, char** argv, int index, int fallback) {
  return argc > index ? std::atoi(argv[index]) : fallback;
}

void print_intervals(std::string_view whose, std::vector<double> reach) {
  if (reach.empty()) return;
  std::ranges::sort(reach);
  const auto near = std::ranges::count_if(reach, [](double each) { return each <= 0.01; });
  fmt::print(
      "{}: {} of {} 95 % intervals lie within 1 % of their median ({:.1f} %); half reach {:.2f} %, "
      "nine in ten {:.2f} %, the widest {:.2f} %\n",
      whose, near, reach.size(),
      100 * static_cast<double>(near) / static_cast<double>(reach.size()),
      100 * reach[reach.size() / 2], 100 * reach[reach.size() * 9 / 10], 100 * reach.back());
}

void print_tally(const Tally& tally, int count, double seconds) {
  fmt::print(
      "{} verdicts in {:.2f} s: {:.1f} verdicts/s; {} accepted and timed, {:.0f} samples each\n",
      count, seconds, count / seconds, tally.accepted, tally.samples / count);
  double sum = 0;
  for (const double median : tally.medians) sum += median;
  fmt::print("median {:.5f} ms (mean of them); p10 to p90: {:.1f} % of it; verdicts by samples:",
             sum / std::max(1, tally.accepted), 100 * tally.spread / std::max(1, tally.accepted));
  for (const auto& [samples, verdicts] : tally.by_samples)
    fmt::print(" <={}: {}", samples, verdicts);
  fmt::print("\n");
  print_intervals("candidates", tally.reach);
  print_intervals("references", tally.reference_reach);
  for (const auto& [stage, ms] : tally.stage_ms)
    fmt::print("  {:<12} {:8.2f} ms each\n", stage, ms / count);
  if (!tally.first_failure.empty()) fmt::print("{}\n", tally.first_failure);
}

// Judges one kernel alone many times, and prints the spread of its medians and the time of a
// verdict. It does so for two kernels and then for both again, which shows the effect of the
// device's first seconds.
Status repeat(gym::api::Judge& judge, int repeats, Shape shape) {
  for (const int number : {0, 3, 0, 3}) {
    Tally tally;
    std::vector<double> took;
    for (int k = 0; k < repeats; ++k) {
      const Stopwatch watch;
      TRY(judge.submit(job(number, shape, curriculum::Style::flat)));
      TRY(take(judge, 1, tally));
      took.push_back(watch.milliseconds());
    }
    if (tally.medians.empty()) return fail("none was timed: {}", tally.first_failure);
    fmt::print("medians in us, in their order:");
    for (const double median : tally.medians) fmt::print(" {:.2f}", 1e3 * median);
    fmt::print("\n");
    std::ranges::sort(took);
    std::ranges::sort(tally.medians);
    const double low = tally.medians.front(), high = tally.medians.back();
    fmt::print(
        "kernel {}: {} medians from {:.5f} to {:.5f} ms, {:.2f} % apart; a verdict alone "
        "took {:.0f} ms (median)\n",
        number, tally.medians.size(), low, high, 100 * (high / low - 1), took[took.size() / 2]);
    print_intervals("candidates", tally.reach);
    print_intervals("references", tally.reference_reach);
    fmt::print("{}\n", tally.first_verdict);
  }
  return ok();
}

Status write_example(const std::filesystem::path& directory) {
  TRY(make_directories(directory));
  for (const int number : {0, 3}) {
    const gym::api::JudgeJob made = job(number, {}, curriculum::Style::flat);
    TRY(write_file_atomic(directory / fmt::format("task_{}.py", number), made.task.source));
    TRY(write_file_atomic(directory / fmt::format("kernel_{}.py", number), made.kernel));
  }
  return ok();
}

struct Load {
  int count = 500;
  Shape shape;
  int repeats = 0;  // of one kernel; 0: distinct kernels
};

Status judge_all(gym::api::Judge& judge, const Load& load) {
  Tally first, tally;
  const Stopwatch cold;
  for (int k = 0; k < kWarmUp; ++k) TRY(judge.submit(job(1'000'000 + k, load.shape)));
  TRY(take(judge, 1, first));
  fmt::print("first verdict after {:.2f} s\n", cold.seconds());
  TRY(take(judge, kWarmUp - 1, first));
  if (load.repeats > 0) return repeat(judge, load.repeats, load.shape);
  const Stopwatch watch;
  for (int k = 0; k < load.count; ++k) TRY(judge.submit(job(k, load.shape)));
  TRY(take(judge, load.count, tally));
  print_tally(tally, load.count, watch.seconds());
  return tally.accepted == load.count ? ok()
                                      : fail("{} were not accepted", load.count - tally.accepted);
}

Status measure(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--write") return write_example(argv[2]);
  if (argc >= 3 && std::string_view(argv[1]) == "--url") {
    TRY_ASSIGN(const auto judge, gym::remote::RemoteJudge::open({.url = argv[2]}));
    return judge_all(*judge,
                     {.count = argument(argc, argv, 3, 500),
                      .shape = {argument(argc, argv, 4, 2048), argument(argc, argv, 5, 16384)}});
  }
  gym::judge::LocalJudgeConfig config;
  config.capture.slots = argument(argc, argv, 2, 8);
  config.capture.compilers = argument(argc, argv, 3, 4);
  config.in_flight = 4 * config.capture.slots;
  TRY_ASSIGN(const auto judge,
             gym::judge::LocalJudge::start(config, inspect::inspect_kernel, referee_program()));
  return judge_all(*judge,
                   {.count = argument(argc, argv, 1, 500),
                    .shape = {argument(argc, argv, 4, 2048), argument(argc, argv, 5, 16384)},
                    .repeats = argument(argc, argv, 6, 0)});
}

}  // namespace
}  // namespace tritonsmith

int main(int argc, char** argv) {
  const auto status = tritonsmith::measure(argc, argv);
  if (!status) fmt::print(stderr, "replay_throughput: {}\n", status.error().message);
  return status ? 0 : 1;
}
