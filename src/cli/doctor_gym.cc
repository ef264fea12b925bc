// The gym's part of `tritonsmith doctor`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "cli/call/fact.h"
#include "cli/setup/judges.h"
#include "gym/capture/capture_pool.h"
#include "gym/judge/start_check.h"
#include "gym/sandbox/jail.h"
#include "gym/sandbox/required_layers.h"

namespace tritonsmith::cli {
namespace {

struct LayerAdvice {
  std::string_view layer, advice;
};
// docs/sandbox.md explains each layer.
constexpr LayerAdvice kAdvice[] = {
    {"uid",
     "run as root, so that every guest has a user of its own; otherwise the other layers must "
     "protect this user"},
    {"groups", "run as root"},
    {"bounding_set", "run as root"},
    {"landlock",
     "boot a kernel of 5.13 or later with landlock among lsm=; without it, a sandbox root must "
     "keep files and GPU nodes from guests"},
    {"fds", "boot Linux 5.9 or later; without this layer nothing is judged"},
    {"seccomp",
     "allow seccomp filters in the container (docker: the default profile does); without them "
     "nothing is judged"},
    {"namespaces",
     "give the container CAP_SYS_ADMIN, or run as root outside one; otherwise the other layers "
     "must protect this machine"},
    {"sandbox_root",
     "as for namespaces; without it, landlock must keep files and GPU nodes from guests, and "
     "without both nothing is judged unless required_layers leaves out \"sandbox_root|landlock\""},
};

std::string advice_for(std::string_view layer) {
  const auto* found = std::find_if(std::begin(kAdvice), std::end(kAdvice),
                                   [&](const LayerAdvice& each) { return each.layer == layer; });
  return found != std::end(kAdvice) ? std::string(found->advice) : "see docs/sandbox.md";
}

constexpr std::string_view kTask = R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1.0
def get_inputs():
    return [torch.randn(256)]
def get_init_inputs():
    return []
)";

constexpr std::string_view kKernel = R"(
import torch
import triton
import triton.language as tl
@triton.jit
def add_one(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at) + 1.0)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        add_one[(1,)](x, y, BLOCK=256)
        return y
)";

// Judges kKernel and then the self-test's kernels. Returns the verdict on kKernel.
Result<Verdict> judge_one_and_self_test() {
  TRY_ASSIGN(const auto judge, start_untested_judge({}));
  gym::api::JudgeJob job{.id = 1, .kernel = std::string(kKernel), .use_store = false};
  job.task = {.id = "doctor", .source = std::string(kTask)};
  TRY(judge->submit(std::move(job)));
  TRY_ASSIGN(auto judged, judge->next(Deadline::after(std::chrono::seconds(120))));
  if (!judged) return fail("no verdict within two minutes");
  if (judged->verdict.accepted)
    TRY(gym::judge::self_test(*judge, {.referees = judge->referees()}, {}));
  return std::move(judged->verdict);
}

}  // namespace

std::vector<Fact> jail_facts() {
  const gym::sandbox::JailReport report = gym::sandbox::probe_jail_layers();
  std::vector<Fact> facts;
  if (!report.refusal.empty())
    return {
        {FactStatus::broken, "jail", report.refusal, "free memory or processes, and look again"}};
  facts.push_back(
      {FactStatus::fine, "jail", fmt::format("{}", fmt::join(report.held(), ", ")), ""});
  for (const gym::sandbox::JailLayer& layer : report.layers) {
    if (layer.held) continue;
    facts.push_back({FactStatus::lacking, "jail", fmt::format("no {}: {}", layer.name, layer.why),
                     advice_for(layer.name)});
  }
  for (const std::string& requirement : gym::capture::CaptureConfig{}.required_layers)
    if (!gym::sandbox::unmet_requirement(report.layers, {requirement}).empty())
      facts.push_back({FactStatus::broken, "jail",
                       fmt::format("no {}, without which nothing is judged", requirement),
                       "follow the advice above"});
  return facts;
}

Fact judging_fact() {
  const Stopwatch watch;
  const auto verdict = judge_one_and_self_test();
  if (!verdict)
    return {FactStatus::broken, "judging", verdict.error().message,
            "fix what is marked above first"};
  if (!verdict->accepted)
    return {FactStatus::broken, "judging",
            verdict->error ? verdict->error->message : "a right kernel was not accepted",
            "fix what is marked above first"};
  const auto& layers = verdict->environment.jail_layers;
  const bool confined = std::find(layers.begin(), layers.end(), "namespaces") != layers.end();
  return {confined ? FactStatus::fine : FactStatus::lacking, "judging",
          fmt::format(
              "a kernel was captured, compiled for {}, {} and accepted, and the self-test's "
              "{} were judged right, in {:.1f} s{}",
              "sm_90", verdict->time_ms ? "run" : "evaluated", gym::judge::self_test_cases().size(),
              watch.seconds(), confined ? "" : "; guests have no namespaces of their own"),
          confined ? "" : advice_for("namespaces")};
}

}  // namespace tritonsmith::cli
