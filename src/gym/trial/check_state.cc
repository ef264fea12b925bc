#include "gym/trial/check_state.h"

#include <algorithm>
#include <map>

#include "gym/compare/compare.h"
#include "gym/language/registry/languages.h"
#include "gym/plan/analysis/tensor_devices.h"
#include "gym/plan/analysis/tensor_names.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/replay/choices.h"

namespace tritonsmith::gym::trial {

std::vector<at::Tensor> shared_now(const Sides& sides, const std::vector<SharedTensor>& shared) {
  std::vector<at::Tensor> now;
  for (const SharedTensor& each : shared) {
    now.push_back(tensors::tensor_at(sides.reference.tensors(), each.reference));
    now.push_back(tensors::tensor_at(sides.candidate.tensors(), each.candidate));
  }
  return now;
}

namespace {

// Says whether a buffer only counts the calls, so that a candidate need not count.
bool only_counts_calls(const plan::Plan& task, const SharedTensor& shared) {
  return shared.counts_calls && !task.first_call_only;
}

}  // namespace

StateCheck check_state(const Sides& sides, const PreparedSides& prepared,
                       const tensors::TensorTable& exact, const compare::CompareOptions& how) {
  StateCheck check;
  const std::vector<SharedTensor>& shared = prepared.shared;
  const std::vector<at::Tensor> now = shared_now(sides, shared);
  std::vector<device::Snapshot> before;
  for (const SharedTensor& each : shared) before.insert(before.end(), 2, each.before);
  const std::vector<bool> unchanged = sides.device.each_unchanged(now, before);
  check.is_intact = std::ranges::find(unchanged, false) == unchanged.end();
  for (std::size_t k = 0; k < shared.size(); ++k)
    if (!unchanged[2 * k] && !shared[k].is_input) check.reference_keeps_state = true;
  for (std::size_t k = 0; k < shared.size(); ++k) {
    const SharedTensor& each = shared[k];
    if (!unchanged[2 * k]) {
      if (unchanged[2 * k + 1] && only_counts_calls(sides.config.task, each)) continue;
      Numerics numerics;
      const at::Tensor expected =
          exact.empty() ? at::Tensor() : tensors::tensor_at(exact, each.reference);
      const auto error =
          compare::compare_tensors(each.what, now[2 * k + 1], now[2 * k], expected, how, numerics);
      check.tolerance_extension = std::max(check.tolerance_extension, numerics.tolerance_extension);
      if (error) {
        check.difference = VerdictError{.error_class = ErrorClass::state_mismatch,
                                        .message = "the reference changes " + error->message};
        return check;
      }
    } else if (!unchanged[2 * k + 1]) {
      check.difference = VerdictError{
          .error_class = each.is_input ? ErrorClass::input_mutated : ErrorClass::weight_mutated,
          .message = fmt::format("{} was changed; the reference leaves it", each.what)};
      return check;
    }
  }
  for (const UnmatchedWeight& each : prepared.unmatched)
    if (!sides.device.unchanged(tensors::tensor_at(sides.reference.tensors(), each.reference),
                                each.before)) {
      check.difference = VerdictError{
          .error_class = ErrorClass::state_mismatch,
          .message = fmt::format(
              "the reference changes `{}`: the candidate has no such parameter or buffer",
              each.name)};
      return check;
    }
  return check;
}

namespace {

// Says whether forward has an operator that may write to the tensor's memory, with or without an
// effect on these values.
bool may_write(const plan::Plan& task, int tensor) {
  const auto is_its_memory = [&](int index) {
    return index >= 0 && task.tensors.at(static_cast<std::size_t>(index)).storage ==
                             task.tensors.at(static_cast<std::size_t>(tensor)).storage;
  };
  return !task.unplanned.empty() ||
         std::ranges::any_of(task.steps, [&](const plan::PlanStep& step) {
           const auto* call = std::get_if<plan::AtenCall>(&step.action);
           if (call == nullptr || step.phase != plan::Phase::forward) return false;
           std::vector<int> written;
           for (const auto& [name, argument] : call->kwargs)
             if (name == "out") plan::append_tensors(argument, written);
           if (plan::operators::writes_in_place(call->op))
             written.insert(written.end(), call->outputs.begin(), call->outputs.end());
           if (plan::operators::is(call->op, plan::operators::Trait::running_statistics))
             for (const plan::Value& argument : call->args) plan::append_tensors(argument, written);
           return std::ranges::any_of(written, is_its_memory);
         });
}

// Adds the tensors through which the launch's code stores in any case.
void add_stored_by_code(const Sides& sides, std::size_t step, std::vector<int>& stored) {
  const plan::Plan& candidate = sides.config.candidate;
  const auto* launch = std::get_if<plan::LaunchStep>(&candidate.steps.at(step).action);
  if (launch == nullptr) return;
  const plan::LaunchChoice& chosen = replay::chosen_of(*launch, step, sides.config.choices);
  const plan::PlanKernel& kernel = candidate.kernels.at(static_cast<std::size_t>(chosen.kernel));
  for (const int index :
       language::language_of(kernel).unconditionally_stored_arguments(kernel.code))
    if (index < std::ssize(chosen.arguments))
      if (const auto* tensor =
              std::get_if<plan::TensorRef>(&chosen.arguments[static_cast<std::size_t>(index)].data))
        stored.push_back(tensor->index);
}

}  // namespace

std::optional<VerdictError> find_scratch_use(const Sides& sides, const PreparedSides& prepared,
                                             const replay::LaunchTraces& launches) {
  const plan::Plan& candidate = sides.config.candidate;
  const auto storage_of = [&](int tensor) {
    return candidate.tensors.at(static_cast<std::size_t>(tensor)).storage;
  };
  std::map<int, int> stored_at;  // from a storage to the line of a launch that wrote there
  for (const auto& [step, trace] : launches) {
    std::vector<int> stored = trace.stored_tensors;
    // On a GPU a store is only seen where it changes memory, so the code tells of the others.
    if (!sides.device.torch_device().is_cpu()) add_stored_by_code(sides, step, stored);
    for (const int tensor : stored)
      if (tensor >= 0) stored_at[storage_of(tensor)] = candidate.steps.at(step).line;
  }
  for (const SharedTensor& each : prepared.shared) {
    const auto stored = stored_at.find(storage_of(each.candidate));
    if (stored == stored_at.end() || may_write(sides.config.task, each.reference) ||
        !sides.device.unchanged(tensors::tensor_at(sides.reference.tensors(), each.reference),
                                each.before))
      continue;
    return VerdictError{
        .error_class = each.is_input ? ErrorClass::input_mutated : ErrorClass::weight_mutated,
        .message =
            fmt::format("a kernel writes to {} and restores it. Others may read it meanwhile: "
                        "allocate memory of its own for what the kernel keeps",
                        each.what),
        .line = stored->second};
  }
  return std::nullopt;
}

std::optional<VerdictError> compare_devices(const Sides& sides) {
  std::vector<int> ours, theirs;
  plan::append_tensors(sides.task().outputs, ours);
  plan::append_tensors(sides.config.candidate.outputs, theirs);
  const auto expected = plan::analysis::tensors_on_cpu(sides.task()),
             got = plan::analysis::tensors_on_cpu(sides.config.candidate);
  for (std::size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k)
    if (got.at(static_cast<std::size_t>(theirs[k])) &&
        !expected.at(static_cast<std::size_t>(ours[k])))
      return VerdictError{
          .error_class = ErrorClass::wrong_device,
          .message = fmt::format("{} lies in the CPU's memory; the reference's does not",
                                 plan::analysis::output_names(sides.config.candidate).at(k))};
  return std::nullopt;
}

}  // namespace tritonsmith::gym::trial
