#include "gym/referee/timed_check.h"

#include <algorithm>
#include <set>

#include "gym/referee/compare.h"
#include "gym/referee/operators.h"

namespace tritonsmith::gym {
namespace {

TensorTable archived(const TimedSides& sides, const OutputArchive& archive, std::size_t nth) {
  std::vector<int> indices;
  append_tensors(sides.candidate.plan().outputs, indices);
  const std::vector<at::Tensor> outputs = archive.read(nth);
  TensorTable tensors = sides.candidate.replay().tensors();
  for (std::size_t k = 0; k < indices.size(); ++k)
    tensors.at(static_cast<std::size_t>(indices[k])) = outputs[k];
  return tensors;
}

}  // namespace

Setting timed_setting(const Plan& task) {
  const bool uses_it = std::ranges::any_of(task.steps, [](const PlanStep& step) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    return call != nullptr && step.phase == Phase::forward && runs_in_cudnn(call->op);
  });
  return uses_it ? Setting::eager : Setting::full_float32;
}

std::vector<Setting> accepted_settings(Setting timed) {
  if (timed == Setting::full_float32) return {Setting::full_float32};
  return {Setting::full_float32, timed};
}

Stop as_task_failure(Stop stop) {
  if (stop.fault == Fault::infrastructure) return stop;
  stop.fault = Fault::none;
  stop.error.line = 0;
  if (stop.error.error_class != "too_large_to_evaluate") stop.error.error_class = "task_failed";
  return stop;
}

std::optional<VerdictError> compare_sides(const TimedSides& sides, const TensorTable& tensors,
                                          const TensorTable& oracle, double leeway) {
  Numerics ignored;
  return compare_outputs({sides.candidate.plan().outputs, tensors},
                         {sides.trial.task().outputs, sides.reference.replay().tensors()}, oracle,
                         {.rule = sides.trial.setting().comparison,
                          .tolerance = sides.trial.tolerance(),
                          .leeway = leeway,
                          .device = sides.place.comparison()},
                         ignored);
}

std::optional<Stop> run_reference_in(const TimedSides& sides, Setting setting) {
  const EagerSettings as_asked(setting);
  auto stop = sides.reference.prepare(Filler::zero);
  if (!stop)
    stop = sides.trial.reference_replays() ? sides.reference.run() : sides.trial.ask_shell();
  return stop ? std::optional(as_task_failure(std::move(*stop))) : std::nullopt;
}

std::optional<Stop> check_archive(const TimedSides& sides, const OutputArchive& archive) {
  std::set<std::size_t> left;
  for (std::size_t nth = 0; nth < archive.size(); ++nth) left.insert(nth);
  std::optional<VerdictError> wrong;
  for (const Setting setting : accepted_settings(sides.setting)) {
    if (left.empty()) return std::nullopt;
    if (auto failed = run_reference_in(sides, setting)) return failed;
    wrong.reset();
    std::erase_if(left, [&](std::size_t nth) {
      auto difference =
          compare_sides(sides, archived(sides, archive, nth), {}, sides.trial.leeway());
      if (difference && !wrong) wrong = difference;
      return !difference;
    });
  }
  if (!wrong) return std::nullopt;
  wrong->message = "in a timed round: " + wrong->message;
  return Stop{.error = *std::move(wrong), .fault = Fault::candidate};
}

}  // namespace tritonsmith::gym
