#include "gym/api/task_check.h"

#include <fmt/format.h>

namespace tritonsmith::gym::api {
namespace {

constexpr Milliseconds kLook{100};
constexpr std::chrono::minutes kPatience{2};

// Far from the ids of later jobs, because the answer to a cancelled job may still arrive.
std::uint64_t id_of(std::size_t task) { return ~std::uint64_t{0} - task; }

// It takes all arguments, launches a kernel and returns something of a wrong shape. So the gym runs
// the task, and nothing of the candidate hides how the task fails.
constexpr const char* kWrongCandidate = R"(import torch
import triton
import triton.language as tl


@triton.jit
def nothing(y_ptr):
    tl.store(y_ptr, 0.0)


class ModelNew(torch.nn.Module):
    def __init__(self, *arguments, **named):
        super().__init__()

    def forward(self, *inputs, **named):
        y = torch.empty(1, device="cuda")
        nothing[(1,)](y)
        return y
)";

}  // namespace

std::string words_for_failed_task(std::string_view message) {
  return fmt::format("the module itself cannot be judged: {}", message);
}

Result<std::optional<std::string>> why_unjudgeable(Judge& judge, std::span<const Task> tasks,
                                                   Backend backend,
                                                   const std::function<bool()>& is_stopped) {
  for (std::size_t i = 0; i < tasks.size(); ++i)
    TRY(judge.submit({.id = id_of(i),
                      .task = tasks[i],
                      .kernel = kWrongCandidate,
                      .backend = backend,
                      .trials = 1,
                      .use_store = false}));
  std::optional<std::string> why;
  const Deadline end = Deadline::after(kPatience);
  for (std::size_t answers = 0; answers < tasks.size() && !end.passed() && !is_stopped();) {
    TRY_ASSIGN(const auto judged, judge.next(Deadline::after(kLook)));
    if (!judged) continue;
    ++answers;
    const auto& error = judged->verdict.error;
    if (error && error->error_class == ErrorClass::task_failed && !why)
      why = words_for_failed_task(error->message);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) judge.cancel(id_of(i));
  return why;
}

}  // namespace tritonsmith::gym::api
