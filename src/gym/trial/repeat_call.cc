#include "gym/trial/repeat_call.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gym/compare/compare.h"
#include "gym/device/copies.h"
#include "gym/trial/kernel_evidence.h"
#include "gym/trial/oracle.h"
#include "gym/trial/python_reference_answer.h"

namespace tritonsmith::gym::trial {
namespace {

std::optional<VerdictError> compare_with_reference(const RightCall& call,
                                                   const tensors::TensorTable& tensors) {
  const Sides& sides = call.sides;
  Numerics ignored;
  compare::CompareOptions how = comparison_of(sides);
  how.tolerance_extension = call.tolerance_extension;
  return compare::compare_outputs({sides.config.candidate.outputs, tensors},
                                  {sides.task().outputs, sides.reference.tensors()}, {}, how,
                                  ignored);
}

// Keeps expected outputs out of the candidate's reach while it runs once more. On a CPU the
// evaluator checks every address, so nothing need be hidden there.
std::vector<SavedState> hide_expected(const Sides& sides) {
  std::vector<SavedState> hidden;
  if (sides.device.torch_device().is_cpu()) return hidden;
  const tensors::TensorTable& tensors = sides.reference.tensors();
  for (const int index : replay::made_by_forward(sides.config.task, tensors)) {
    const at::Tensor bytes = tensors::storage_bytes(tensors::tensor_at(tensors, index));
    hidden.push_back({.bytes = bytes, .saved = bytes.cpu()});
  }
  forget_expected(sides);
  return hidden;
}

// Gives the candidate's inputs and weights their first values again. Returns false if that is
// impossible: a GPU's snapshots hold no bytes, and an input may be expanded.
bool restore_shared(const RightCall& call) {
  if (call.shared_is_intact) return true;
  for (const SharedTensor& each : call.prepared.shared) {
    at::Tensor& theirs = tensors::tensor_at(call.sides.candidate.tensors(), each.candidate);
    if (call.sides.device.unchanged(theirs, each.before)) continue;
    if (!each.before.bytes.defined() || at::has_internal_overlap(theirs) == at::MemOverlap::Yes)
      return false;
    theirs.copy_(each.before.bytes);
  }
  return true;
}

// Says how the candidate runs once more: which tensors it starts from, whether its kernels run, and
// what its unwritten memory holds.
struct AnotherRun {
  const tensors::TensorTable& tensors;
  replay::Launches launches = replay::Launches::run;
  tensors::Filler filler = tensors::Filler::nan;
};

// Returns the candidate, ready to run once more, or nothing if its inputs cannot be restored.
std::optional<replay::Replay> another_replay(RightCall& call, const AnotherRun& run) {
  if (!restore_shared(call)) return std::nullopt;
  call.shared_is_intact = false;
  Sides& sides = call.sides;
  std::optional<replay::Replay> replay(std::in_place, sides.config.candidate, sides.executor,
                                       replay::ReplayOptions{.choices = sides.config.choices,
                                                             .deadline = sides.config.deadline,
                                                             .launches = run.launches,
                                                             .device = &sides.device,
                                                             .draws_seed = sides.seed_of("draws")});
  replay->tensors() = run.tensors;
  sides.device.set_filler(run.filler);
  sides.seed("forward");
  return replay;
}

// Overwrites what forward returned. Any caller of forward may do this, because the outputs belong
// to the caller.
void spoil_outputs(const RightCall& call) {
  const tensors::TensorTable& tensors = call.sides.candidate.tensors();
  std::set<const void*> shared;
  for (const SharedTensor& each : call.prepared.shared)
    shared.insert(tensors::tensor_at(tensors, each.candidate).storage().data());
  std::vector<int> outputs;
  plan::append_tensors(call.sides.config.candidate.outputs, outputs);
  for (const int index : outputs) {
    const at::Tensor& output = tensors::tensor_at(tensors, index);
    if (output.storage().nbytes() > 0 && !shared.contains(output.storage().data()))
      tensors::storage_bytes(output).fill_(static_cast<std::int64_t>(tensors::Filler::huge));
  }
}

// Runs the candidate again. Returns a stop that is the candidate's own mistake; any other stop
// ends the trial.
std::optional<replay::Stop> run_again(Sides& sides, replay::Replay& again, std::string_view draws,
                                      TrialResult& result) {
  sides.device.set_patience(Deadline::after(replay::kKernelPatience));
  again.seed_draws(sides.seed_of(draws));
  auto stop = again.draw_again();
  if (!stop) stop = again.run(plan::Phase::forward);
  if (auto late = sides.device.wait(sides.config.deadline); late && !stop)
    stop = replay::Stop{.error = std::move(*late), .fault = Fault::candidate};
  sides.device.set_patience(Deadline::never());
  if (!stop || (stop->fault == Fault::candidate && stop->error.error_class != ErrorClass::timeout))
    return stop;
  result.candidate_stop = std::move(stop);
  return std::nullopt;
}

// Names an input or a weight that the first call left alone and a later call changed.
std::optional<VerdictError> changed_shared(const RightCall& call) {
  for (const SharedTensor& each : call.prepared.shared)
    if (!call.sides.device.unchanged(
            tensors::tensor_at(call.sides.candidate.tensors(), each.candidate), each.before))
      return VerdictError{
          .error_class = each.is_input ? ErrorClass::input_mutated : ErrorClass::weight_mutated,
          .message = fmt::format("{} was changed", each.what)};
  return std::nullopt;
}

// Runs one phase of the reference. Returns false if it stops. Lack of time or memory ends
// the trial, too.
bool runs_reference(Sides& sides, plan::Phase phase, TrialResult& result) {
  const bool in_python = phase == plan::Phase::forward && !sides.reference_replays();
  auto stop = in_python ? ask_python_reference(sides) : sides.reference.run(phase);
  if (auto late = sides.device.wait(sides.config.deadline); late && !stop)
    stop = replay::Stop{.error = std::move(*late), .fault = Fault::none};
  if (stop && stop->fault == Fault::none) result.reference_stop = stop;
  return !stop;
}

// Which inputs another call gets: new ones, or the first call's with one new element in each row. A
// kernel that knows an input again by some of its elements takes the latter for the former.
enum class OtherInputs { all_new, one_of_each_row };

// Gives the reference's new inputs the values of `first` again, but for one element in each row.
// Returns false if no input could be changed so.
bool keep_most_of(const Sides& sides, const tensors::TensorTable& first) {
  bool any = false;
  for (const int index : input_tensors(sides.config.task)) {
    const at::Tensor& now = tensors::tensor_at(sides.reference.tensors(), index);
    const at::Tensor& before = tensors::tensor_at(first, index);
    if (!now.defined() || !before.defined() || now.sizes() != before.sizes() ||
        at::has_internal_overlap(now) == at::MemOverlap::Yes || now.is_same(before))
      return false;
    const bool changes =
        now.is_floating_point() && now.element_size() > 1 && now.dim() > 0 && now.numel() > 1;
    if (!changes) {
      now.copy_(before);
      continue;
    }
    sides.seed("place in a row");
    std::vector<std::int64_t> rows = now.sizes().vec();
    rows.back() = 1;
    const at::Tensor element =
        at::randint(now.size(-1), rows, at::dtype(at::kLong).device(now.device()));
    now.copy_(before.scatter(-1, element, now.gather(-1, element)));
    any = true;
  }
  return any;
}

// Runs both sides on other inputs. `first`: the reference's tensors of the first call. Returns nothing
// if one of the sides does not run.
std::optional<VerdictError> differs_on_other_inputs(RightCall& call, OtherInputs which,
                                                    const tensors::TensorTable& first,
                                                    TrialResult& result) {
  Sides& sides = call.sides;
  const TrialConfig& config = sides.config;
  sides.seed("other inputs");
  if (!runs_reference(sides, plan::Phase::inputs, result)) return std::nullopt;
  if (which == OtherInputs::one_of_each_row && !keep_most_of(sides, first)) return std::nullopt;
  constexpr std::string_view draws = "other draws";
  sides.reference.seed_draws(sides.seed_of(draws));
  if (sides.reference.draw_again()) return std::nullopt;
  tensors::TensorTable drawn;
  for (const int index : input_tensors(config.task))
    drawn.push_back(tensors::tensor_at(sides.reference.tensors(), index));
  tensors::TensorTable copies = device::copy_with_storages(drawn, sides.device);
  auto again = another_replay(call, {.tensors = sides.candidate.tensors(), .filler = sides.filler});
  if (!again) return std::nullopt;
  const std::vector<int> theirs = input_tensors(config.candidate);
  for (std::size_t k = 0; k < theirs.size(); ++k) again->bind(theirs[k], std::move(copies[k]));
  const auto stop = run_again(sides, *again, draws, result);
  if (result.candidate_stop) return std::nullopt;
  if (stop) return stop->error;
  sides.device.set_filler(tensors::Filler::zero);
  tensors::TensorTable exact;
  if (sides.reference_replays()) exact = take_oracle_run(result, run_oracle_now(sides));
  sides.seed("forward");
  if (!runs_reference(sides, plan::Phase::forward, result)) return std::nullopt;
  if (!sides.reference_replays()) exact = take_oracle_run(result, run_oracle(sides, std::nullopt));
  Numerics ignored;
  auto difference = compare::compare_outputs({config.candidate.outputs, again->tensors()},
                                             {sides.task().outputs, sides.reference.tensors()},
                                             exact, comparison_of(sides), ignored);
  forget_expected(sides);
  return difference;
}

// Returns nothing if the reference keeps something from call to call, or does not run once more.
std::optional<VerdictError> answer_other_inputs(RightCall& call, TrialResult& result) {
  Sides& sides = call.sides;
  const auto changed = [&](const SharedTensor& each) {
    return !each.is_input &&
           !sides.device.unchanged(tensors::tensor_at(sides.reference.tensors(), each.reference),
                                   each.before);
  };
  if (std::ranges::any_of(call.prepared.shared, changed)) return std::nullopt;
  const tensors::TensorTable first = sides.reference.tensors();
  for (const OtherInputs which : {OtherInputs::one_of_each_row, OtherInputs::all_new}) {
    auto difference = differs_on_other_inputs(call, which, first, result);
    sides.reference.tensors() = first;
    sides.reference.seed_draws(sides.seed_of("draws"));
    if (result.is_stopped()) return std::nullopt;
    if (difference)
      return VerdictError{
          .error_class = ErrorClass::state_carried,
          .message = fmt::format(
              "called next with {}, forward does otherwise, since it keeps something from the call "
              "before: {}",
              which == OtherInputs::all_new ? "other inputs" : "one other value in each row",
              difference->message)};
  }
  return std::nullopt;
}

// Returns the numbers of the bytes, or nothing if they are no whole or real numbers.
std::optional<at::Tensor> numbers_of(const OwnState& own, const at::Tensor& bytes) {
  const bool is_number = at::isIntegralType(own.type, false) || at::isFloatingType(own.type);
  const auto size = static_cast<std::int64_t>(c10::elementSize(own.type));
  if (!is_number || size < 2 || bytes.numel() % size != 0) return std::nullopt;
  return bytes.view(own.type);
}

// Gives memory of the candidate's own, such as a count of its calls, what it holds after many more
// calls, if each adds what the last one added. Returns false if the last call added nothing.
bool count_many_calls(const std::vector<OwnState>& states, const std::vector<at::Tensor>& before) {
  constexpr double calls = 4096;
  bool counts = false;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const auto then = numbers_of(states[k], before[k]),
               now = numbers_of(states[k], states[k].bytes);
    if (!then || !now) continue;
    const at::Tensor number = now->to(at::kDouble), added = number - then->to(at::kDouble);
    const at::Tensor later = number + added * calls;
    const double most =
        at::isFloatingType(states[k].type)
            ? 1e30
            : std::ldexp(1.0, static_cast<int>(8 * c10::elementSize(states[k].type)) - 2);
    const at::Tensor adds = added.ne(0).logical_and_(later.abs().lt(most));
    if (!adds.any().item<bool>()) continue;
    counts = true;
    now->copy_(at::where(adds, later, number));
  }
  return counts;
}

// Holds how another call differs from the reference, or nothing if it does not differ.
struct Answer {
  std::optional<VerdictError> difference;
};

// Calls the candidate again with the same inputs. Returns nothing if that is impossible.
std::optional<Answer> answer_same_inputs(RightCall& call, const tensors::TensorTable& after_init,
                                         TrialResult& result) {
  auto again = another_replay(call, {.tensors = after_init, .filler = call.sides.filler});
  if (!again) return std::nullopt;
  const std::vector<SavedState> hidden = hide_expected(call.sides);
  auto stop = run_again(call.sides, *again, "draws", result);
  for (const SavedState& each : hidden) each.bytes.copy_(each.saved);
  if (result.candidate_stop) return std::nullopt;
  return Answer{stop ? std::optional(stop->error) : compare_with_reference(call, again->tensors())};
}

std::vector<at::Tensor> copies_of(const std::vector<OwnState>& states) {
  std::vector<at::Tensor> copies;
  for (const OwnState& own : states) copies.push_back(own.bytes.clone());
  return copies;
}

// Calls the candidate as if it had been called many times before. `before`: its own memory before the
// last call. Returns nothing if it counts no calls.
std::optional<VerdictError> answer_after_many_calls(RightCall& call,
                                                    const tensors::TensorTable& after_init,
                                                    const std::vector<at::Tensor>& before,
                                                    TrialResult& result) {
  const std::vector<OwnState>& states = call.prepared.own_state;
  const std::vector<at::Tensor> now = copies_of(states);
  if (!count_many_calls(states, before)) return std::nullopt;
  const auto answer = answer_same_inputs(call, after_init, result);
  for (std::size_t k = 0; k < states.size(); ++k) states[k].bytes.copy_(now[k]);
  if (!answer || !answer->difference) return std::nullopt;
  return VerdictError{
      .error_class = ErrorClass::state_carried,
      .message =
          "each call adds to memory that the module keeps, and when it has grown as "
          "by many calls, forward does otherwise: " +
          answer->difference->message};
}

// Calls the candidate with the same inputs, then with others. Returns false if that was impossible.
bool answers_again(RightCall& call, const tensors::TensorTable& after_init, TrialResult& result) {
  const bool was_intact = call.shared_is_intact;
  const std::vector<at::Tensor> before = copies_of(call.prepared.own_state);
  spoil_outputs(call);
  const auto answer = answer_same_inputs(call, after_init, result);
  if (!answer) return false;
  std::optional<VerdictError> difference = answer->difference;
  if (!difference && was_intact) difference = changed_shared(call);
  if (difference)
    result.difference =
        VerdictError{.error_class = ErrorClass::state_carried,
                     .message =
                         "called again with the same input, forward does otherwise, since "
                         "it keeps something from the call before: " +
                         difference->message};
  if (!result.difference)
    result.difference = answer_after_many_calls(call, after_init, before, result);
  if (result.candidate_stop) return false;
  if (!result.difference) result.difference = answer_other_inputs(call, result);
  for (const OwnState& own : call.prepared.own_state)
    own.bytes.copy_(own.saved.defined() ? own.saved : own.before.bytes);
  return true;
}

}  // namespace

void call_again(RightCall call, TrialResult& result) {
  const c10::InferenceMode no_gradients(true);
  Sides& sides = call.sides;
  const bool carries_state = std::ranges::any_of(call.prepared.own_state, [&](const OwnState& own) {
    return !sides.device.unchanged(own.bytes, own.before);
  });
  const tensors::TensorTable after_init = sides.candidate.tensors();
  if (carries_state && !answers_again(call, after_init, result)) return;
  if (result.difference || !sides.config.kernels.needed) return;
  auto without = another_replay(call, {.tensors = after_init,
                                       .launches = replay::Launches::skipped,
                                       .filler = tensors::Filler::huge});
  if (!without || without->draw_again() || without->run(plan::Phase::forward)) return;
  result.right_without_kernels = !compare_with_reference(call, without->tensors());
  result.needed_share =
      result.right_without_kernels ? 0 : share_that_needs_kernels(call.sides, without->tensors());
}

}  // namespace tritonsmith::gym::trial
