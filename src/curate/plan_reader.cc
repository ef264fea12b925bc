#include "curate/plan_reader.h"

#include "base/bounded_queue.h"
#include "base/hash.h"
#include "curate/plan_signature.h"

namespace tritonsmith::curate {
namespace {

using gym::capture::CapturedPlan;
using gym::capture::CaptureOutcome;
using gym::capture::CapturePool;
using gym::capture::CaptureRequest;
using gym::capture::CaptureRole;

constexpr std::size_t kInFlight = 32;

std::string key_of(const KernelOfTask& kernel) {
  return content_key(kernel.task->source + '\0' + kernel.kernel);
}

}  // namespace

Result<std::unique_ptr<PlanReader>> PlanReader::start(const gym::capture::CaptureConfig& config) {
  TRY_ASSIGN(auto pool, CapturePool::start(config));
  return std::make_unique<PlanReader>(std::move(pool));
}

Status PlanReader::capture_all(std::map<std::string, CaptureRequest> requests, const Take& take,
                               const OnProgress& on_progress) {
  // The pool may call back after an error has ended this function.
  const auto captured = std::make_shared<BoundedQueue<Captured>>(kInFlight + 1);
  std::size_t waiting = 0, read = 0;
  for (auto next = requests.begin(); next != requests.end() || waiting > 0;) {
    for (; next != requests.end() && waiting < kInFlight; ++next, ++waiting)
      pool_->capture(std::move(next->second),
                     [captured, key = next->first](CaptureOutcome outcome) {
                       captured->push({.key = key, .outcome = std::move(outcome)});
                     });
    auto one = captured->pop(Deadline::never());
    if (!one) return fail_by_fault("the guests gave no plan");
    --waiting;
    if (const auto* fault = std::get_if<gym::sandbox::InfrastructureFault>(&one->outcome.result))
      return fail_by_fault("the guests are broken: {}; `tritonsmith doctor` may say why",
                           fault->message);
    const auto* plan = std::get_if<CapturedPlan>(&one->outcome.result);
    take(one->key, plan == nullptr ? nullptr : &plan->json);
    on_progress(++read);
  }
  return ok();
}

Status PlanReader::read_tasks(std::span<const Task> tasks, const OnProgress& on_progress) {
  std::map<std::string, CaptureRequest> requests;
  for (const Task& each : tasks)
    if (std::string key = content_key(each.source); !tasks_.contains(key))
      requests[std::move(key)] = {
          .role = CaptureRole::task, .source = each.source, .path = "task.py"};
  const Take take = [&](const std::string& key, const std::string* text) {
    ReadTask& task = tasks_[key];
    if (text == nullptr) return;
    const auto json = parse_json(*text);
    const auto plan = gym::plan::parse_plan(*text);
    if (!json || !plan) return;
    task = {.signature = task_signature(*plan),
            .init_args = to_line(json->value("init_args", Json::array())),
            .inputs = to_line(json->value("inputs", Json::array())),
            .tensors = to_line(json->value("tensors", Json::array()))};
  };
  return capture_all(std::move(requests), take, on_progress);
}

Status PlanReader::read_kernels(std::span<const KernelOfTask> kernels,
                                const OnProgress& on_progress) {
  std::map<std::string, CaptureRequest> requests;
  for (const KernelOfTask& each : kernels) {
    const auto task = tasks_.find(content_key(each.task->source));
    if (task == tasks_.end() || task->second.init_args.empty()) continue;
    if (std::string key = key_of(each); !kernels_.contains(key))
      requests[std::move(key)] = {.source = each.kernel,
                                  .init_args_json = task->second.init_args,
                                  .inputs_json = task->second.inputs,
                                  .tensors_json = task->second.tensors};
  }
  const Take take = [&](const std::string& key, const std::string* text) {
    if (text == nullptr) return;
    if (const auto plan = gym::plan::parse_plan(*text)) kernels_[key] = kernel_signature(*plan);
  };
  return capture_all(std::move(requests), take, on_progress);
}

std::optional<std::string> PlanReader::signature_of(const Task& task) const {
  const auto at = tasks_.find(content_key(task.source));
  if (at == tasks_.end() || at->second.signature.empty()) return std::nullopt;
  return at->second.signature;
}

std::optional<std::string> PlanReader::signature_of(const KernelOfTask& kernel) const {
  const auto at = kernels_.find(key_of(kernel));
  return at == kernels_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace tritonsmith::curate
