// Computes how much GPU memory a CudaDecoder needs, before it allocates any.
#include <algorithm>

#include "generate/engine/cuda_decoder.h"
#include "generate/engine/decode_sizes.h"
#include "model/cublas/cublas.h"

namespace tritonsmith::generate::engine {
namespace {

using model::cuda::kPage;

// Returns the memory for computing prompts, at the moment when a layer holds most. It then holds
// for each token the residual stream, the packed projections, the result of attention (and its
// normalisers), the norm, the gates and their product (model/layers/cuda_layer.cc).
std::int64_t prefill_bytes(const model::ModelConfig& c, const CudaDecoder::Limits& limits) {
  constexpr std::int64_t kIndices = 32;  // bytes of token, position and slot, as they are sent
  const std::int64_t of_token =
      kIndices + 4 * c.hidden_size + 2 * (c.query_size() + 2 * c.key_value_size()) +
      2 * c.query_size() + 4 * c.num_attention_heads + 2 * c.hidden_size + 6 * c.intermediate_size;
  const std::int64_t tokens = std::min<std::int64_t>(
      limits.prefill_tokens, std::int64_t{limits.prompts} * limits.max_length);
  // A longer prompt is computed in chunks. Each chunk needs the earlier keys and values three
  // times: as they come out of the pages, in order with the new ones behind them, and by use.
  const bool has_pieces = limits.max_length > limits.prefill_tokens;
  const std::int64_t earlier =
      has_pieces ? std::int64_t{limits.max_length + kPage} * c.key_value_size() * 2 * 8 : 0;
  // The last rows of the prompts that are computed together, and their logits.
  const std::int64_t last =
      std::min<std::int64_t>(tokens, limits.prompts) * (4 * c.vocab_size + 10 * c.hidden_size);
  return tokens * of_token + earlier + last;
}

}  // namespace

std::int64_t bucket_of(std::int64_t rows) {
  if (rows <= 4) return rows <= 2 ? rows : 4;
  const std::int64_t unit = rows <= 64 ? 8 : rows <= 256 ? 32 : 128;
  return (rows + unit - 1) / unit * unit;
}

int splits_for(std::int64_t rows, std::int64_t kv_heads) {
  constexpr std::int64_t kBlocks = 160;
  return static_cast<int>(std::clamp<std::int64_t>(kBlocks / (rows * kv_heads), 1, 32));
}

std::int64_t attention_parts(const model::ModelConfig& config, std::int64_t rows) {
  std::int64_t parts = 0;
  for (std::int64_t r = 1; r <= rows; ++r)
    parts = std::max(parts, r * splits_for(r, config.num_key_value_heads));
  return parts * config.num_attention_heads;
}

std::int64_t parts_of_sums(const model::Transformer& model) {
  const model::ModelConfig& c = model.config();
  if (model.sums() == model::Sums::fast) return 0;
  const int parts = std::max(model::sum_parts(c.hidden_size, c.query_size()),
                             model::sum_parts(c.hidden_size, c.intermediate_size));
  return parts == 1 ? 0 : model::kMostSumParts;
}

std::int64_t CudaDecoder::page_bytes(const model::ModelConfig& config) {
  return 2 * config.num_hidden_layers * config.num_key_value_heads * kPage * config.head_dim * 2;
}

std::int64_t CudaDecoder::other_bytes(const model::Transformer& model, const Limits& limits) {
  const model::ModelConfig& c = model.config();
  const std::int64_t rows = bucket_of(limits.slots);
  const std::int64_t row = 4 * c.vocab_size + (6 + 4 * parts_of_sums(model)) * c.hidden_size +
                           2 * (2 * c.query_size() + 2 * c.key_value_size()) +
                           6 * c.intermediate_size;
  const std::int64_t parts = 4 * attention_parts(c, rows) * (c.head_dim + 1);
  const std::int64_t prompt_logits = std::int64_t{4} * limits.prompts * c.vocab_size;
  const std::int64_t rope = std::int64_t{4} * limits.max_length * c.head_dim;
  // This counts the table, and its rows as assign() sends them.
  const std::int64_t page_table = std::int64_t{4} * (2 * limits.slots + limits.prompts) *
                                  ((limits.max_length + kPage - 1) / kPage);
  const std::int64_t widest =
      std::max({c.vocab_size, 2 * c.intermediate_size, c.query_size() + 2 * c.key_value_size()});
  constexpr std::int64_t kSmall = std::int64_t{32} << 20;  // arrays of slots, rounding of sizes
  return rows * row + parts + prompt_logits + rope + page_table + prefill_bytes(c, limits) +
         2 * model::Cublas::workspace_bytes() +
         model::Cublas::trial_bytes(model.sums(), rows, widest) + kSmall;
}

}  // namespace tritonsmith::generate::engine
