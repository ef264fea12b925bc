#include "train/batch/micro_batch.h"

#include <ATen/ATen.h>

#include "base/check.h"

namespace tritonsmith::train {
namespace {

template <typename T>
at::Tensor on_device(const std::vector<T>& values, c10::ScalarType type, c10::Device device) {
  return at::tensor(values, at::TensorOptions().dtype(type)).to(device);
}

MicroBatch pack_members(std::span<const TrainingSequence> sequences, MicroBatchLayout layout,
                        c10::Device device) {
  std::vector<std::int64_t> inputs, rows, targets, offsets = {0};
  for (std::size_t index = 0; index < layout.members.size(); ++index) {
    const TrainingSequence& sequence = sequences[layout.members[index]];
    const std::int64_t before = layout.prefixes.empty() ? 0 : layout.prefixes[index].length;
    const std::int64_t begin = offsets.back() - before;  // where its first token would be
    inputs.insert(inputs.end(), sequence.tokens.begin() + before, sequence.tokens.end() - 1);
    offsets.push_back(static_cast<std::int64_t>(inputs.size()));
    sequence.for_each_trained([&](std::size_t t) {
      rows.push_back(begin + static_cast<std::int64_t>(t) - 1);
      targets.push_back(sequence.tokens[t]);
    });
  }
  return {.packed = {.tokens = on_device(inputs, at::kLong, device),
                     .offsets = std::move(offsets),
                     .prefixes = std::move(layout.prefixes)},
          .rows = on_device(rows, at::kLong, device),
          .targets = on_device(targets, at::kLong, device),
          .members = std::move(layout.members),
          .shared = layout.shared};
}

}  // namespace

std::vector<MicroBatch> make_micro_batches(std::span<const TrainingSequence> sequences,
                                           std::span<const std::size_t> members,
                                           const PackingOptions& options, c10::Device device) {
  for (const std::size_t member : members)
    CHECK(sequences[member].prompt_length >= 1 && sequences[member].trained() >= 1,
          "a sequence needs a prompt and a completion");
  std::vector<MicroBatch> batches;
  for (MicroBatchLayout& layout : pack_in_order(sequences, members, options))
    batches.push_back(pack_members(sequences, std::move(layout), device));
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
