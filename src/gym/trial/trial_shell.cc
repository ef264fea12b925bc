// The part of a Trial that asks the reference shell, for tasks whose forward no plan has.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "gym/trial/trial.h"

namespace tritonsmith::gym::trial {
namespace {

// The same value, its tensors that many places farther.
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

}  // namespace

std::optional<replay::Stop> Trial::ask_shell() {
  const c10::InferenceMode no_gradients(true);
  const auto seed_of = [&](std::string_view purpose) {
    return trial_seed(config_.secret, purpose, config_.trial);
  };
  auto answer = config_.shell->run({.task = config_.task,
                                    .tensors = reference_.tensors(),
                                    .mode = config_.mode,
                                    .init_seed = seed_of("init"),
                                    .forward_seed = seed_of("forward"),
                                    .with_oracle = config_.with_oracle});
  if (!answer) return answer.error();
  take_answer(*std::move(answer));
  return std::nullopt;
}

// As if the plan had made them: outputs become tensors behind those that it declares.
void Trial::take_answer(ReferenceAnswer answer) {
  const std::size_t declared = config_.task.tensors.size();
  tensors::TensorTable& ours = reference_.tensors();
  const auto here = [&](const at::Tensor& tensor) { return tensor.to(device_.torch_device()); };
  ours.resize(declared);
  oracle_.assign(declared + answer.tensors.size(), at::Tensor());
  for (std::size_t k = 0; k < answer.tensors.size(); ++k) {
    ours.push_back(here(answer.tensors[k]));
    if (answer.exact[k].defined()) oracle_[declared + k] = here(answer.exact[k]);
  }
  for (const ReferenceAnswer::Changed& changed : answer.changed) {
    ours.at(static_cast<std::size_t>(changed.tensor)).copy_(changed.now);
    if (changed.exact.defined())
      oracle_.at(static_cast<std::size_t>(changed.tensor)) = here(changed.exact);
  }
  answered_ = config_.task;
  answered_->tensors.resize(ours.size());
  answered_->outputs = with_tensors_from(declared, std::move(answer.outputs));
  aliases_input_ = answer.aliases_input;
  result_.no_oracle = std::move(answer.no_oracle);
}

}  // namespace tritonsmith::gym::trial
