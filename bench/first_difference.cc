// Shows where the log-probabilities of trainer and engine begin to differ on a GPU. It runs the
// operations of a layer at the shape of Qwen2.5-Coder-3B (random weights) in three ways. The
// trainer computes all tokens of many sequences together, the engine reads a prompt, and the engine
// decodes.
//   first_difference [SEQUENCES] [LENGTH] [LAYERS] [float16]     (64 256 8; below a minute)
// For `fast` and for `equal` sums (model/config/sums.h) it prints
//   - a line for each operation: the share of elements that differ from the trainer's and their
//     relative difference, with the trainer's inputs for every operation, the worst of all layers;
//   - a line for each layer: the error of the residual stream with the way's own inputs.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/layers/cuda_attention.h"
#include "model/layers/cuda_layer.h"
#include "model/memory/device.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

using cuda::Half;
using cuda::kPage;

ModelConfig config_of(int layers) {
  return {.vocab_size = 1024,
          .hidden_size = 2048,
          .intermediate_size = 11008,
          .num_hidden_layers = layers,
          .num_attention_heads = 16,
          .num_key_value_heads = 2,
          .head_dim = 128,
          .max_position_embeddings = 32768,
          .rope_theta = 1e6};
}

template <typename T>
T* data(const at::Tensor& tensor) {
  return static_cast<T*>(tensor.mutable_data_ptr());
}

// One way through a layer: its products, the positions of its rows, and its attention.
struct Way {
  Cublas& cublas;
  at::Tensor positions;  // [rows]
  at::Tensor slots;      // [rows], or undefined: keys and values are not stored
  cuda::PagedCache cache{};
  std::function<at::Tensor(const at::Tensor& qkv)> attend;  // [rows, heads D]
};

class Layers {
 public:
  Layers(const Transformer& model, RopeTable rope)
      : model_(model), half_(*model.half_weights()), rope_(std::move(rope)) {}

  // Receives the result of every operation and may change it.
  using Seen = std::function<void(const char* name, const at::Tensor& result)>;

  // x [rows, H] float32, changed in place.
  void run(std::size_t n, const at::Tensor& x, const Way& way, const Seen& seen) const {
    const HalfLayer& half = half_.layers()[n];
    const LayerWeights& masters = model_.layers()[n];
    const at::Tensor normed = rows_like(x, x.size(1)), qkv = rows_like(x, half.qkv.size(0));
    norm(x, masters.input_norm, normed);
    seen("norm", normed);
    way.cublas.linear(qkv, normed, half.qkv, half.qkv_bias);
    seen("qkv", qkv);
    rotate(qkv, masters, way);
    seen("rope", qkv);
    const at::Tensor attended = way.attend(qkv);
    seen("attention", attended);
    add_product(way.cublas, x, attended, half.o);
    seen("output projection", x);
    norm(x, masters.post_norm, normed);
    seen("second norm", normed);
    const at::Tensor gate_up = rows_like(x, half.gate_up.size(0));
    way.cublas.linear(gate_up, normed, half.gate_up);
    seen("gate and up", gate_up);
    const at::Tensor inner = rows_like(x, half.down.size(1));
    const double share = inner_share(inner.scalar_type());
    cuda::kernels()->swiglu({.gate_up = data<Half>(gate_up),
                             .out = data<Half>(inner),
                             .tokens = x.size(0),
                             .inner = static_cast<int>(inner.size(1)),
                             .type = half_type_of(inner),
                             .factor = static_cast<float>(share)},
                            stream());
    seen("swiglu", inner);
    add_product(way.cublas, x, inner, half.down, 1 / share);
    seen("down projection", x);
  }

 private:
  at::Tensor rows_like(const at::Tensor& x, std::int64_t columns) const {
    return at::empty({x.size(0), columns}, half_.flat().options());
  }
  cuda::Stream stream() const { return current_stream(model_.device()); }

  // Computes as decoding does, which leaves parts of a sum to its next norm.
  static void add_product(Cublas& cublas, const at::Tensor& x, const at::Tensor& rows,
                          const at::Tensor& weight, double factor = 1) {
    const at::Tensor parts = at::empty({kMostSumParts, x.size(0), x.size(1)}, x.options());
    const int count = cublas.linear_onto_in_parts(x, parts, rows, weight, factor);
    for (int part = 0; part < count; ++part) x.add_(parts[part]);
  }

  void norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out) const {
    cuda::kernels()->norm({.x = data<float>(x),
                           .weight = data<float>(weight),
                           .out = data<Half>(out),
                           .rows = x.size(0),
                           .hidden = static_cast<int>(x.size(1)),
                           .eps = static_cast<float>(model_.config().rms_norm_eps),
                           .type = half_type_of(out)},
                          stream());
  }

  void rotate(const at::Tensor& qkv, const LayerWeights& masters, const Way& way) const {
    const ModelConfig& c = model_.config();
    const bool is_normed = masters.q_norm.defined();
    cuda::kernels()->rope({.qkv = data<Half>(qkv),
                           .cos = data<float>(rope_.cos),
                           .sin = data<float>(rope_.sin),
                           .positions = data<int>(way.positions),
                           .q_norm = is_normed ? data<float>(masters.q_norm) : nullptr,
                           .k_norm = is_normed ? data<float>(masters.k_norm) : nullptr,
                           .slots = way.slots.defined() ? data<int>(way.slots) : nullptr,
                           .cache = way.cache,
                           .tokens = qkv.size(0),
                           .heads = static_cast<int>(c.num_attention_heads),
                           .kv_heads = static_cast<int>(c.num_key_value_heads),
                           .head_dim = static_cast<int>(c.head_dim),
                           .eps = static_cast<float>(c.rms_norm_eps),
                           .type = half_type_of(qkv)},
                          stream());
  }

  const Transformer& model_;
  const HalfWeights& half_;
  RopeTable rope_;
};

struct Off {
  double share = 0, relative = 0;
};
Off off(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor apart = got.to(at::kFloat) - expected.to(at::kFloat);
  return {apart.ne(0).to(at::kFloat).mean().item<double>(),
          (apart.norm() / expected.to(at::kFloat).norm()).item<double>()};
}

// Packed sequences of one length, with a page table that gives each its own pages.
class Comparison {
 public:
  Comparison(const Transformer& model, int sequences, int length)
      : model_(model),
        sequences_(sequences),
        length_(length),
        pages_((length + kPage - 1) / kPage),
        layers_(model, make_rope_table(model.config(), length, floats())),
        trainer_cublas_(model.device(), KernelChoice::measure_if_frequent, model.sums()),
        prompt_cublas_(model.device(), KernelChoice::guess, model.sums()),
        decode_cublas_(model.device(), KernelChoice::measure, model.sums()) {
    const ModelConfig& c = model.config();
    keys_ = at::zeros({std::int64_t{sequences} * pages_, c.num_key_value_heads, kPage, c.head_dim},
                      model.half_weights()->flat().options());
    values_ = at::zeros_like(keys_);
    table_ = at::arange(sequences * pages_, ints());
    const at::Tensor index = at::arange(sequences * length, ints());
    positions_ = index.remainder(length);
    slots_ = index.floor_divide(length);
    last_ = at::arange(1, sequences + 1, ints()).mul(length).sub(1).to(at::kLong);
    const at::Tensor tokens =
        index.to(at::kLong).mul(2654435761).bitwise_right_shift(11).remainder(c.vocab_size);
    x_ = at::embedding(model.embedding(), tokens);
  }

  void print(const std::string& title) {
    std::vector<std::string> order;
    std::map<std::string, Off> prompt, decode;
    std::vector<Off> free_decode;
    at::Tensor x = x_.clone(), free_x = rows_last(x_);
    for (std::size_t n = 0; n < model_.layers().size(); ++n) {
      std::map<std::string, at::Tensor> trainer;
      const at::Tensor before = x.clone();
      layers_.run(n, x, trainer_way(), [&](const char* name, const at::Tensor& result) {
        trainer[name] = result.clone();
        if (n == 0) order.emplace_back(name);
      });
      const auto compare = [&](std::map<std::string, Off>& worst, auto rows) {
        return [&trainer, &worst, rows](const char* name, const at::Tensor& result) {
          const at::Tensor expected = rows(trainer.at(name));
          const Off now = off(result, expected);
          if (now.share >= worst[name].share) worst[name] = now;
          result.copy_(expected);
        };
      };
      const auto first = [this](const at::Tensor& all) { return all.narrow(0, 0, length_); };
      const auto last = [this](const at::Tensor& all) { return rows_last(all); };
      layers_.run(n, first(before).clone(), prompt_way(), compare(prompt, first));
      layers_.run(n, last(before).clone(), decode_way(), compare(decode, last));
      layers_.run(n, free_x, decode_way(), [](const char*, const at::Tensor&) {});
      free_decode.push_back(off(free_x, rows_last(x)));
    }
    fmt::print("{:<20}{:>16}{:>12}{:>16}{:>12}\n", title, "prompt differs", "by", "decode differs",
               "by");
    for (const std::string& name : order)
      fmt::print("{:<20}{:>14.4f} %{:>12.1e}{:>14.4f} %{:>12.1e}\n", name, 100 * prompt[name].share,
                 prompt[name].relative, 100 * decode[name].share, decode[name].relative);
    for (std::size_t n = 0; n < free_decode.size(); ++n)
      fmt::print("{:<48}{:>14.4f} %{:>12.1e}\n", fmt::format("stream after layer {}", n + 1),
                 100 * free_decode[n].share, free_decode[n].relative);
  }

 private:
  at::TensorOptions ints() const { return at::TensorOptions(at::kInt).device(model_.device()); }
  at::TensorOptions floats() const { return ints().dtype(at::kFloat); }
  at::Tensor rows_last(const at::Tensor& all) const { return all.index_select(0, last_); }
  double scale() const { return 1.0 / std::sqrt(static_cast<double>(model_.config().head_dim)); }
  cuda::PagedCache cache() const {
    return {data<Half>(keys_), data<Half>(values_), data<int>(table_), pages_};
  }

  // Attends as cuda_layer does, over packed sequences.
  std::function<at::Tensor(const at::Tensor&)> attend_packed(int sequences) const {
    const at::Tensor offsets = at::arange(sequences + 1, ints()).mul(length_);
    return [this, offsets](const at::Tensor& qkv) {
      const ModelConfig& c = model_.config();
      const std::int64_t heads = c.num_attention_heads, kv_heads = c.num_key_value_heads;
      const at::Tensor all = qkv.view({qkv.size(0), -1, c.head_dim});
      const auto part = [&](std::int64_t begin, std::int64_t count) {
        return all.narrow(1, begin, count);
      };
      const AttentionBatch attention = {offsets, length_, /*is_even=*/true, scale(), model_.sums()};
      return cuda_attend({part(0, heads), part(heads, kv_heads), part(heads + kv_heads, kv_heads)},
                         attention)
          .out.reshape({qkv.size(0), -1});
    };
  }
  Way trainer_way() {
    return {trainer_cublas_, positions_, slots_, cache(), attend_packed(sequences_)};
  }
  Way prompt_way() {
    return {prompt_cublas_, positions_.narrow(0, 0, length_), {}, {}, attend_packed(1)};
  }
  Way decode_way() {
    const at::Tensor slots = at::arange(sequences_, ints());
    const at::Tensor positions = at::full_like(slots, length_ - 1);
    return {decode_cublas_, positions, slots, cache(), [this, slots, positions](const auto& qkv) {
              return attend_decoding(qkv, slots, positions);
            }};
  }
  at::Tensor attend_decoding(const at::Tensor& qkv, const at::Tensor& slots,
                             const at::Tensor& positions) const {
    const ModelConfig& c = model_.config();
    at::Tensor out = at::empty({qkv.size(0), c.query_size()}, qkv.options());
    const auto attend =
        model_.sums() == Sums::equal ? cuda::kernels()->decode_in_order : cuda::kernels()->decode;
    attend({.qkv = data<Half>(qkv),
            .row_stride = static_cast<int>(qkv.size(1)),
            .slots = data<int>(slots),
            .positions = data<int>(positions),
            .cache = cache(),
            .out = data<Half>(out),
            .rows = static_cast<int>(qkv.size(0)),
            .heads = static_cast<int>(c.num_attention_heads),
            .kv_heads = static_cast<int>(c.num_key_value_heads),
            .head_dim = static_cast<int>(c.head_dim),
            .splits = 1,
            .scale = static_cast<float>(scale()),
            .type = half_type_of(qkv)},
           current_stream(model_.device()));
    return out;
  }

  const Transformer& model_;
  int sequences_, length_, pages_;
  Layers layers_;
  Cublas trainer_cublas_, prompt_cublas_, decode_cublas_;
  at::Tensor keys_, values_, table_, positions_, slots_, last_, x_;
};

Status run(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool is_float16 = std::erase(words, "float16") > 0;
  const auto number = [&](std::size_t i, int fallback) {
    return words.size() > i ? std::atoi(words[i].c_str()) : fallback;
  };
  TRY_ASSIGN(const c10::Device device, open_device(DeviceChoice::cuda));
  if (cuda::kernels() == nullptr) return fail("this build has no CUDA kernels");
  const at::NoGradGuard no_grad;
  Transformer model(config_of(number(2, 8)), device);
  at::manual_seed(1);
  for (const auto& [name, tensor] : model.parameters()) {
    at::Tensor weights = tensor;
    name.ends_with("norm.weight") ? weights.fill_(1) : weights.normal_(0, 0.02);
  }
  model.set_precision(is_float16 ? Precision::float16 : Precision::bfloat16);
  for (const Sums sums : {Sums::fast, Sums::equal}) {
    const Stopwatch watch;
    model.set_sums(sums);
    Comparison comparison(model, number(0, 64), number(1, 256));
    comparison.print(std::string(name_of(sums)) + ", " + std::string(name_of(model.precision())));
    fmt::print("{:.1f} s\n\n", watch.seconds());
  }
  return ok();
}

}  // namespace
}  // namespace tritonsmith::model

int main(int argc, char** argv) {
  const auto status = tritonsmith::model::run(argc, argv);
  if (!status) fmt::print(stderr, "first_difference: {}\n", status.error().message);
  return status ? 0 : 1;
}
