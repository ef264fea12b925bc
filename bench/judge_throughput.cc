// Verdicts per second of a LocalJudge: elementwise and reduction kernels over 8k elements, three
// trials, distinct IR, store off, each in a new guest. It prints the rate after a warm-up and the
// time of each stage. It also prints the processor time of each kind of process, without that of
// compile workers that end meanwhile.
//
//   judge_throughput [verdicts] [slots] [compilers] [referees]
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

#include "gym/judge/local_judge.h"
#include "inspect/inspect.h"
#include "processor_time.h"
#include "referee_program.h"

namespace tritonsmith {
namespace {

constexpr int kWarmUp = 8;

std::string task_source(bool is_reduction) {
  return fmt::format(
      R"(
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return {}

def get_inputs():
    return [torch.randn(16, 512)]

def get_init_inputs():
    return []
)",
      is_reduction ? "torch.sum(torch.relu(x), dim=1)" : "torch.sigmoid(x) * x + 1.0");
}

// `salt` changes the IR and not only the text: a constant that is added and subtracted again.
std::string kernel_source(bool is_reduction, int salt) {
  const std::string body = is_reduction ? R"(
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
    tl.store(y_ptr + row, tl.sum(tl.maximum(x, 0.0), axis=0) + SALT - SALT))"
                                        : R"(
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x / (1.0 + tl.exp(-x)) + 1.0 + SALT - SALT, mask=mask))";
  const std::string forward = is_reduction ? R"(
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1], SALT=%SALT%, BLOCK=512)
        return y)"
                                           : R"(
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), SALT=%SALT%, BLOCK=1024)
        return y)";
  std::string source = R"(import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, n, SALT: tl.constexpr, BLOCK: tl.constexpr):)" +
                       body + R"(

class ModelNew(nn.Module):
    def forward(self, x):)" +
                       forward + "\n";
  const std::string mark = "%SALT%";
  source.replace(source.find(mark), mark.size(), fmt::format("{}", 1.0 / (1 + salt)));
  return source;
}

gym::api::JudgeJob job(int number) {
  const bool is_reduction = number % 2 == 1;
  return {.id = static_cast<std::uint64_t>(number),
          .task = {.id = is_reduction ? "reduction" : "elementwise",
                   .source = task_source(is_reduction)},
          .kernel = kernel_source(is_reduction, number),
          .use_store = false};
}

struct Tally {
  int accepted = 0, others = 0;
  std::map<std::string, double> stage_ms;
  std::string first_failure;
};

Status take(gym::api::Judge& judge, int count, Tally& tally) {
  for (int k = 0; k < count; ++k) {
    TRY_ASSIGN(const auto judged, judge.next(Deadline::never()));
    if (!judged) return fail("a verdict is missing");
    const Verdict& verdict = judged->verdict;
    ++(verdict.accepted ? tally.accepted : tally.others);
    if (!verdict.accepted && tally.first_failure.empty())
      tally.first_failure = to_line(to_json(verdict));
    for (const auto& [stage, ms] : verdict.stage_ms) tally.stage_ms[stage] += ms;
  }
  return ok();
}

int argument(int argc, char** argv, int index, int fallback) {
  return argc > index ? std::atoi(argv[index]) : fallback;
}

Status measure(int argc, char** argv) {
  const int count = argument(argc, argv, 1, 100);
  gym::judge::LocalJudgeConfig config;
  config.capture.slots = argument(argc, argv, 2, 2);
  config.capture.compilers = argument(argc, argv, 3, 1);
  config.referees = argument(argc, argv, 4, 1);
  const Stopwatch cold;
  TRY_ASSIGN(const auto judge,
             gym::judge::LocalJudge::start(config, inspect::inspect_kernel, referee_program()));
  Tally first, tally;
  TRY(judge->submit(job(1'000'000)));
  TRY(take(*judge, 1, first));
  fmt::print("first verdict after {:.2f} s\n", cold.seconds());
  for (int k = 0; k < kWarmUp; ++k) TRY(judge->submit(job(2'000'000 + k)));
  TRY(take(*judge, kWarmUp, first));
  const auto before = processor_seconds();
  const Stopwatch watch;
  for (int k = 0; k < count; ++k) TRY(judge->submit(job(k)));
  TRY(take(*judge, count, tally));
  const double seconds = watch.seconds();
  auto used = processor_seconds();
  fmt::print(
      "{} verdicts in {:.2f} s: {:.1f} verdicts/s ({} guests, {} compilers, {} referees); {} "
      "accepted\n",
      count, seconds, count / seconds, config.capture.slots, config.capture.compilers,
      config.referees, tally.accepted);
  for (const auto& [stage, ms] : tally.stage_ms)
    fmt::print("  {:<12} {:8.2f} ms each\n", stage, ms / count);
  double all = 0;
  for (auto& [who, busy] : used) all += busy -= before.contains(who) ? before.at(who) : 0;
  fmt::print("processor time: {:.1f} ms a verdict\n", 1e3 * all / count);
  for (const auto& [who, busy] : used)
    fmt::print("  {:<12} {:8.2f} ms each\n", who, 1e3 * busy / count);
  if (!tally.first_failure.empty()) fmt::print("{}\n", tally.first_failure);
  return tally.others == 0 ? ok() : fail("{} verdicts were not accepted", tally.others);
}

}  // namespace
}  // namespace tritonsmith

int main(int argc, char** argv) {
  const auto status = tritonsmith::measure(argc, argv);
  if (!status) fmt::print(stderr, "judge_throughput: {}\n", status.error().message);
  return status ? 0 : 1;
}
