#include "generate/engine/cpu_decoder.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "model/cpu/kernels.h"
#include "model/cpu/logprob.h"
#include "model/cpu/parallel.h"
#include "model/layers/aten_layer.h"
#include "model/layers/fused_layer.h"

namespace tritonsmith::generate::engine {
namespace {

namespace cpu = model::cpu;

const float* read(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

cpu::LayerPointers<const float> pointers_of(const model::LayerWeights& w) {
  return {.input_norm = read(w.input_norm),
          .q = read(w.q),
          .q_bias = read(w.q_bias),
          .k = read(w.k),
          .k_bias = read(w.k_bias),
          .v = read(w.v),
          .v_bias = read(w.v_bias),
          .q_norm = read(w.q_norm),
          .k_norm = read(w.k_norm),
          .o = read(w.o),
          .post_norm = read(w.post_norm),
          .gate = read(w.gate),
          .up = read(w.up),
          .down = read(w.down)};
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const float* data = read(tensor);
  return {data, data + tensor.numel()};
}

}  // namespace

CpuDecoder::CpuDecoder(const model::Transformer& model, int slots)
    : model_(model),
      shape_(model::layer_shape(model.config())),
      layers_(model.layers().size()),
      slots_(static_cast<std::size_t>(slots)) {
  const auto table = model::make_rope_table(model.config(), model.config().max_position_embeddings,
                                            at::TensorOptions(at::kFloat));
  rope_cos_ = values_of(table.cos);
  rope_sin_ = values_of(table.sin);
}

void CpuDecoder::refresh() {
  cpu::set_threads(at::get_num_threads());
  for (std::size_t n = 0; n < layers_.size(); ++n)
    cpu::transpose_weights(shape_, pointers_of(model_.layers()[n]), layers_[n]);
  const at::Tensor& head = model_.head_weight();
  transposed_head_.resize(static_cast<std::size_t>(head.numel()));
  cpu::kernels<float>().transpose(read(head), head.size(0), head.size(1), head.size(1),
                                  transposed_head_.data(), head.size(0));
}

void CpuDecoder::reserve(int index, std::int64_t length) {
  constexpr std::int64_t kStep = 64;
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (slot.capacity >= length) return;
  Slot grown{.capacity = (length + kStep - 1) / kStep * kStep};
  const auto size = layers_.size() * static_cast<std::size_t>(shape_.key_value() * grown.capacity);
  grown.keys.assign(size, 0.0f);
  grown.values.assign(size, 0.0f);
  // The slot may hold the prompt of a request that needed less room.
  const std::int64_t D = shape_.head_dim;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer)
    for (std::int64_t head = 0; head < shape_.kv_heads; ++head) {
      for (std::int64_t d = 0; d < D; ++d)
        std::copy_n(keys(slot, layer, head) + d * slot.capacity, slot.capacity,
                    keys(grown, layer, head) + d * grown.capacity);
      std::copy_n(values(slot, layer, head), D * slot.capacity, values(grown, layer, head));
    }
  slot = std::move(grown);
}

float* CpuDecoder::keys(Slot& slot, std::size_t layer, std::int64_t kv_head) const {
  const auto head = static_cast<std::int64_t>(layer) * shape_.kv_heads + kv_head;
  return slot.keys.data() + head * shape_.head_dim * slot.capacity;
}

float* CpuDecoder::values(Slot& slot, std::size_t layer, std::int64_t kv_head) const {
  const auto head = static_cast<std::int64_t>(layer) * shape_.kv_heads + kv_head;
  return slot.values.data() + head * shape_.head_dim * slot.capacity;
}

void CpuDecoder::append(Slot& slot, std::size_t layer, std::int64_t kv_head, const float* qkv,
                        std::int64_t at) const {
  const std::int64_t D = shape_.head_dim;
  const float* key = qkv + shape_.query() + kv_head * D;
  const float* value = key + shape_.key_value();
  float* transposed = keys(slot, layer, kv_head) + at;
  for (std::int64_t d = 0; d < D; ++d) transposed[d * slot.capacity] = key[d];
  std::copy_n(value, D, values(slot, layer, kv_head) + at * D);
}

void CpuDecoder::embed(std::span<const TokenId> tokens, float* x) const {
  const float* embedding = read(model_.embedding());
  for (const TokenId token : tokens) {
    std::copy_n(embedding + token * shape_.hidden, shape_.hidden, x);
    x += shape_.hidden;
  }
}

cpu::Rope<float> CpuDecoder::rope() const {
  return {.cos = rope_cos_.data(), .sin = rope_sin_.data()};
}

void CpuDecoder::prefill(std::span<const Prompt> prompts, float* logits) {
  std::vector<std::int64_t> offsets = {0}, positions;
  for (const Prompt& prompt : prompts) {
    for (std::size_t t = 0; t < prompt.tokens.size(); ++t)
      positions.push_back(static_cast<std::int64_t>(t));
    offsets.push_back(std::ssize(positions));
  }
  const std::int64_t rows = offsets.back();
  const cpu::Buffer<float> x(rows * shape_.hidden), qkv(rows * shape_.qkv()),
      attended(rows * shape_.query());
  for (std::size_t i = 0; i < prompts.size(); ++i)
    embed(prompts[i].tokens, x.data() + offsets[i] * shape_.hidden);
  for (std::size_t n = 0; n < layers_.size(); ++n) {
    cpu::project(shape_, layers_[n], rope(), positions, x.data(), qkv.data());
    cpu::parallel_for(std::ssize(prompts) * shape_.kv_heads, rows * 2 * shape_.key_value(),
                      [&](std::int64_t task) {
                        const auto i = static_cast<std::size_t>(task / shape_.kv_heads);
                        Slot& slot = slots_[static_cast<std::size_t>(prompts[i].slot)];
                        for (std::int64_t t = 0; t < offsets[i + 1] - offsets[i]; ++t)
                          append(slot, n, task % shape_.kv_heads,
                                 qkv.data() + (offsets[i] + t) * shape_.qkv(), t);
                      });
    cpu::attend<float>(shape_, offsets, qkv.data(), attended.data(), nullptr);
    cpu::finish<float>(shape_, layers_[n], rows,
                       {.x = x.data(), .attended = attended.data(), .out = x.data()});
  }
  const auto count = std::ssize(prompts);
  const cpu::Buffer<float> last(count * shape_.hidden);
  for (std::int64_t i = 0; i < count; ++i)
    cpu::norm_rows(x.data() + (offsets[static_cast<std::size_t>(i) + 1] - 1) * shape_.hidden,
                   read(model_.final_norm()), 1, shape_.hidden, shape_.eps,
                   last.data() + i * shape_.hidden);
  cpu::head_logits<float>(
      {.rows = count, .hidden = shape_.hidden, .vocabulary = model_.config().vocab_size},
      last.data(), transposed_head_.data(), logits);
}

void CpuDecoder::copy(int from, int to, std::int64_t length) {
  Slot& source = slots_[static_cast<std::size_t>(from)];
  Slot& target = slots_[static_cast<std::size_t>(to)];
  cpu::parallel_for(std::ssize(layers_), std::ssize(layers_) * length * shape_.key_value(),
                    [&](std::int64_t layer) {
                      const auto n = static_cast<std::size_t>(layer);
                      for (std::int64_t head = 0; head < shape_.kv_heads; ++head) {
                        for (std::int64_t d = 0; d < shape_.head_dim; ++d)
                          std::copy_n(keys(source, n, head) + d * source.capacity, length,
                                      keys(target, n, head) + d * target.capacity);
                        std::copy_n(values(source, n, head), length * shape_.head_dim,
                                    values(target, n, head));
                      }
                    });
}

void CpuDecoder::attend_slots(std::size_t layer, std::span<const Step> steps, const float* qkv,
                              float* attended) {
  std::int64_t work = 0;
  for (const Step& step : steps) work += 2 * step.position * shape_.query();
  cpu::parallel_for(std::ssize(steps) * shape_.kv_heads, work, [&](std::int64_t task) {
    const std::int64_t row = task / shape_.kv_heads, head = task % shape_.kv_heads;
    const Step& step = steps[static_cast<std::size_t>(row)];
    Slot& slot = slots_[static_cast<std::size_t>(step.slot)];
    const float* projected = qkv + row * shape_.qkv();
    append(slot, layer, head, projected, step.position);
    const std::int64_t first = head * shape_.group() * shape_.head_dim;
    cpu::attend_cached<float>(shape_,
                              {.keys = keys(slot, layer, head),
                               .capacity = slot.capacity,
                               .values = values(slot, layer, head),
                               .length = step.position + 1},
                              projected + first, attended + row * shape_.query() + first);
  });
}

// Rows do not depend on each other. Each thread therefore computes its share through all layers.
void CpuDecoder::decode(std::span<const Step> steps, float* logits) {
  constexpr std::int64_t kFewest = 4;  // the least number of rows in a share
  const std::int64_t rows = std::ssize(steps);
  const std::int64_t shares = std::clamp<std::int64_t>(rows / kFewest, 1, cpu::threads());
  const std::int64_t work = shares * cpu::kWorthSharing + 1;
  cpu::parallel_for(shares, work, [&](std::int64_t share) {
    const std::int64_t from = rows * share / shares, to = rows * (share + 1) / shares;
    decode_share(steps.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)),
                 logits + from * model_.config().vocab_size);
  });
}

void CpuDecoder::decode_share(std::span<const Step> steps, float* logits) {
  const std::int64_t rows = std::ssize(steps);
  std::vector<std::int64_t> positions;
  std::vector<TokenId> tokens;
  for (const Step& step : steps) {
    positions.push_back(step.position);
    tokens.push_back(step.token);
  }
  const cpu::Buffer<float> x(rows * shape_.hidden), qkv(rows * shape_.qkv()),
      attended(rows * shape_.query());
  embed(tokens, x.data());
  for (std::size_t n = 0; n < layers_.size(); ++n) {
    cpu::project(shape_, layers_[n], rope(), positions, x.data(), qkv.data());
    attend_slots(n, steps, qkv.data(), attended.data());
    cpu::finish<float>(shape_, layers_[n], rows,
                       {.x = x.data(), .attended = attended.data(), .out = x.data()});
  }
  cpu::norm_rows(x.data(), read(model_.final_norm()), rows, shape_.hidden, shape_.eps, x.data());
  cpu::head_logits<float>(
      {.rows = rows, .hidden = shape_.hidden, .vocabulary = model_.config().vocab_size}, x.data(),
      transposed_head_.data(), logits);
}

}  // namespace tritonsmith::generate::engine
