// Prefill: a CudaDecoder computes several prompts together. It computes a prompt that is longer
// than the limit in chunks. Each chunk attends to the chunks before it through the KV cache.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>

#include "base/check.h"
#include "generate/engine/cuda_decoder.h"

namespace tritonsmith::generate::engine {
namespace {

using model::cuda::kPage;

at::Tensor on_device(const std::vector<std::int64_t>& values, at::ScalarType type,
                     c10::Device device) {
  return at::tensor(values, at::kLong).to(type).to(device);
}

// Returns the first `count` rows of these pages of one layer's cache, [count, kv_heads, D].
at::Tensor rows_of_pages(const at::Tensor& layer, const at::Tensor& pages, std::int64_t count) {
  return layer.index_select(0, pages).transpose(1, 2).flatten(0, 1).narrow(0, 0, count);
}

}  // namespace

// Returns the hidden states of the prompts' last tokens, [prompts, H] float32.
at::Tensor CudaDecoder::read_together(std::span<const Prompt> prompts) {
  std::vector<std::vector<TokenId>> sequences;
  std::vector<int> slots;  // for each token
  for (const Prompt& prompt : prompts) {
    sequences.emplace_back(prompt.tokens.begin(), prompt.tokens.end());
    slots.insert(slots.end(), prompt.tokens.size(), limits_.slots + prompt.row);
  }
  const auto batch = model::pack(sequences, model_.device());
  const auto shared = model::make_cuda_batch(batch, rope_, sums_);
  const at::Tensor at_slots = at::tensor(slots, at::kInt).to(model_.device());
  const at::Tensor x = at::embedding(model_.embedding(), batch.tokens);  // [T, H] float32
  for (std::size_t n = 0; n < model_.layers().size(); ++n)
    model::cuda_layer_inference(x, {&model_.layers()[n], &half_->layers()[n]}, model_.config(),
                                *shared, *prefill_cublas_,
                                {.slots = at_slots, .cache = cache_of(n)});
  const std::vector<std::int64_t> ends(batch.offsets.begin() + 1, batch.offsets.end());
  return x.index_select(0, on_device(ends, at::kLong, model_.device()) - 1);
}

// Returns the hidden state of one prompt's last token, computed chunk by chunk. With equal sums the
// bits are those of read_together(), because a token's bits depend neither on the rows beside it
// nor on the position of its keys.
at::Tensor CudaDecoder::read_in_pieces(const Prompt& prompt) {
  const std::int64_t length = std::ssize(prompt.tokens);
  const std::vector<std::int64_t> all_pages(prompt.pages.begin(), prompt.pages.end());
  const at::Tensor pages = on_device(all_pages, at::kLong, model_.device());
  const auto ints = page_table_.options();
  at::Tensor last;
  for (std::int64_t begin = 0; begin < length; begin += limits_.prefill_tokens) {
    const std::int64_t end = std::min<std::int64_t>(begin + limits_.prefill_tokens, length);
    const std::vector<std::int64_t> tokens(prompt.tokens.begin() + begin,
                                           prompt.tokens.begin() + end);
    model::CudaBatch batch = {.offsets = on_device({0, end - begin}, at::kInt, model_.device()),
                              .positions = at::arange(begin, end, ints),
                              .rope = rope_,
                              .longest = end - begin,
                              .sums = sums_,
                              .shared = {}};
    if (begin > 0)
      batch.shared = {.rows = at::arange(end, ints),
                      .offsets = on_device({0, end}, at::kInt, model_.device()),
                      .longest = end,
                      .uses = {},
                      .use_offsets = {}};
    const at::Tensor at_slots = at::full({end - begin}, limits_.slots + prompt.row, ints);
    const at::Tensor x =
        at::embedding(model_.embedding(), on_device(tokens, at::kLong, model_.device()));
    for (std::size_t n = 0; n < model_.layers().size(); ++n) {
      model::CacheTarget target = {.slots = at_slots, .cache = cache_of(n)};
      if (begin > 0) {
        const auto layer = static_cast<std::int64_t>(n);
        const at::Tensor used = pages.narrow(0, 0, (begin + kPage - 1) / kPage);
        target.earlier_keys = rows_of_pages(keys_[layer], used, begin);
        target.earlier_values = rows_of_pages(values_[layer], used, begin);
      }
      model::cuda_layer_inference(x, {&model_.layers()[n], &half_->layers()[n]}, model_.config(),
                                  batch, *prefill_cublas_, target);
    }
    last = x.narrow(0, end - begin - 1, 1).clone();
  }
  return last;
}

void CudaDecoder::prefill(std::span<const Prompt> prompts) {
  const at::NoGradGuard no_grad;
  const c10::StreamGuard guard(stream_);
  std::vector<std::int64_t> rows;
  std::int64_t tokens = 0;
  for (const Prompt& prompt : prompts) {
    rows.push_back(prompt.row);
    tokens += std::ssize(prompt.tokens);
    page_table_[limits_.slots + prompt.row]
        .narrow(0, 0, std::ssize(prompt.pages))
        .copy_(at::tensor(std::vector<int>(prompt.pages.begin(), prompt.pages.end()), at::kInt));
  }
  CHECK(prompts.size() == 1 || tokens <= limits_.prefill_tokens,
        "{} prompts of {} tokens are read together, but {} at once are the most", prompts.size(),
        tokens, limits_.prefill_tokens);
  const at::Tensor last =
      tokens > limits_.prefill_tokens ? read_in_pieces(prompts.front()) : read_together(prompts);
  const at::Tensor normed = model::cuda_rms_norm(last, model_.final_norm(),
                                                 model_.config().rms_norm_eps, keys_.scalar_type())
                                .to(keys_.scalar_type());
  const at::Tensor logits =
      at::empty({std::ssize(prompts), model_.config().vocab_size}, prompt_logits_.options());
  prefill_cublas_->linear(logits, normed, half_->head());
  prompt_logits_.index_copy_(0, on_device(rows, at::kLong, model_.device()), logits);
}

}  // namespace tritonsmith::generate::engine
