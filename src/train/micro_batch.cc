#include "train/micro_batch.h"

#include <ATen/ATen.h>

#include "base/check.h"

namespace tritonsmith::train {
namespace {

template <typename T>
at::Tensor on_device(const std::vector<T>& values, c10::ScalarType type, c10::Device device) {
  return at::tensor(values, at::TensorOptions().dtype(type)).to(device);
}

MicroBatch pack_members(std::span<const TrainingSequence> sequences,
                        std::vector<std::size_t> members, c10::Device device) {
  std::vector<std::int64_t> inputs, rows, targets, offsets = {0};
  for (const std::size_t member : members) {
    const TrainingSequence& sequence = sequences[member];
    const std::int64_t begin = offsets.back();
    inputs.insert(inputs.end(), sequence.tokens.begin(), sequence.tokens.end() - 1);
    offsets.push_back(static_cast<std::int64_t>(inputs.size()));
    sequence.for_each_trained([&](std::size_t t) {
      rows.push_back(begin + static_cast<std::int64_t>(t) - 1);
      targets.push_back(sequence.tokens[t]);
    });
  }
  return {.packed = {.tokens = on_device(inputs, at::kLong, device), .offsets = std::move(offsets)},
          .rows = on_device(rows, at::kLong, device),
          .targets = on_device(targets, at::kLong, device),
          .members = std::move(members)};
}

}  // namespace

std::vector<MicroBatch> make_micro_batches(std::span<const TrainingSequence> sequences,
                                           std::span<const std::size_t> members,
                                           std::int64_t budget, c10::Device device) {
  std::vector<std::int64_t> lengths;
  for (const std::size_t member : members) {
    const TrainingSequence& sequence = sequences[member];
    CHECK(sequence.prompt_length >= 1 && sequence.trained() >= 1,
          "a sequence needs a prompt and a completion");
    lengths.push_back(static_cast<std::int64_t>(sequence.tokens.size()) - 1);
  }
  std::vector<MicroBatch> batches;
  for (const auto& places : pack_in_order(lengths, budget)) {
    std::vector<std::size_t> packed;
    for (const std::size_t place : places) packed.push_back(members[place]);
    batches.push_back(pack_members(sequences, std::move(packed), device));
  }
  return batches;
}

at::Tensor predicting_states(const model::Transformer& model, const MicroBatch& batch) {
  return model.forward(batch.packed).index_select(0, batch.rows);
}

model::LogprobAndEntropy forward_tokens(const model::Transformer& model, const MicroBatch& batch,
                                        double temperature) {
  return model::linear_logprob(predicting_states(model, batch), model.head_weight(), batch.targets,
                               temperature);
}

}  // namespace tritonsmith::train
