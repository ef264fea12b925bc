#include "gym/trial/python_reference_answer.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

namespace tritonsmith::gym::trial {
namespace {

// Returns the same value with `first` added to the index of each tensor.
plan::Value with_tensors_from(std::size_t first, plan::Value value) {
  if (auto* tensor = std::get_if<plan::TensorRef>(&value.data))
    tensor->index += static_cast<int>(first);
  if (auto* list = std::get_if<plan::List>(&value.data))
    for (plan::Value& item : list->items) item = with_tensors_from(first, std::move(item));
  if (auto* tuple = std::get_if<plan::Tuple>(&value.data))
    for (plan::Value& item : tuple->items) item = with_tensors_from(first, std::move(item));
  if (auto* dict = std::get_if<plan::Dict>(&value.data))
    for (plan::DictEntry& item : dict->items)
      item.value = with_tensors_from(first, std::move(item.value));
  return value;
}

// Appends the answer's outputs to the tensors that the plan declares.
void take_answer(Sides& sides, ReferenceAnswer answer) {
  const plan::Plan& task = sides.config.task;
  const std::size_t declared = task.tensors.size();
  tensors::TensorTable& ours = sides.reference.tensors();
  const auto here = [&](const at::Tensor& tensor) {
    return tensor.to(sides.device.torch_device());
  };
  ours.resize(declared);
  tensors::TensorTable exact(declared + answer.tensors.size());
  for (std::size_t k = 0; k < answer.tensors.size(); ++k) {
    ours.push_back(here(answer.tensors[k]));
    if (answer.exact[k].defined()) exact[declared + k] = here(answer.exact[k]);
  }
  for (const ReferenceAnswer::Changed& changed : answer.changed) {
    ours.at(static_cast<std::size_t>(changed.tensor)).copy_(changed.now);
    if (changed.exact.defined())
      exact.at(static_cast<std::size_t>(changed.tensor)) = here(changed.exact);
  }
  plan::Plan plan = task;
  plan.tensors.resize(ours.size());
  plan.outputs = with_tensors_from(declared, std::move(answer.outputs));
  sides.answered = AnsweredTask{.plan = std::move(plan),
                                .aliases_input = answer.aliases_input,
                                .exact = std::move(exact),
                                .no_oracle = std::move(answer.no_oracle)};
}

}  // namespace

std::optional<replay::Stop> ask_python_reference(Sides& sides) {
  const c10::InferenceMode no_gradients(true);
  auto answer = sides.config.python_reference->run({.task = sides.config.task,
                                                    .tensors = sides.reference.tensors(),
                                                    .mode = sides.config.mode,
                                                    .init_seed = sides.seed_of("init"),
                                                    .forward_seed = sides.seed_of("forward"),
                                                    .with_oracle = sides.config.with_oracle});
  if (!answer) return answer.error();
  take_answer(sides, *std::move(answer));
  return std::nullopt;
}

}  // namespace tritonsmith::gym::trial
