#include "model/layers/fused_layer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <optional>

#include "model/cpu/attention.h"
#include "model/cpu/layer.h"
#include "model/layers/cpu_dispatch.h"

namespace tritonsmith::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The order of a layer's weights among the arguments of its node.
constexpr int kWeightsOfLayer = 14;
using Weight = std::optional<at::Tensor>;  // custom functions do not take undefined tensors
variable_list list_of(const LayerWeights& w) {
  return {w.input_norm, w.q,      w.q_bias, w.k,         w.k_bias, w.v,  w.v_bias,
          w.q_norm,     w.k_norm, w.o,      w.post_norm, w.gate,   w.up, w.down};
}

template <typename T>
const T* read(const at::Tensor& tensor) {
  return tensor.const_data_ptr<T>();
}

template <typename T, typename Pointer>
cpu::LayerPointers<T> pointers(const variable_list& w, int first, Pointer pointer) {
  const auto at = [&](int i) { return pointer(w[static_cast<std::size_t>(first + i)]); };
  return {.input_norm = at(0),
          .q = at(1),
          .q_bias = at(2),
          .k = at(3),
          .k_bias = at(4),
          .v = at(5),
          .v_bias = at(6),
          .q_norm = at(7),
          .k_norm = at(8),
          .o = at(9),
          .post_norm = at(10),
          .gate = at(11),
          .up = at(12),
          .down = at(13)};
}

template <typename T>
cpu::LayerPointers<const T> readable(const variable_list& w, int first) {
  return pointers<const T>(
      w, first, [](const at::Tensor& t) { return t.defined() ? t.const_data_ptr<T>() : nullptr; });
}

template <typename T>
cpu::Rope<T> rope_of(const PackedLayout& layout) {
  return {.cos = layout.rope.cos.const_data_ptr<T>(), .sin = layout.rope.sin.const_data_ptr<T>()};
}

const SharedKeys* shared_of(const PackedLayout& layout) {
  return layout.shared ? &*layout.shared : nullptr;
}

struct LayerContext : torch::CustomClassHolder {
  cpu::LayerShape shape;
  std::shared_ptr<const PackedLayout> layout;
};

enum class Keep { for_backward, nothing };

// The tensors that the forward leaves for the backward, in the order in which they are saved after
// the weights.
struct Activations {
  at::Tensor x, qkv, attended, log_normaliser, middle, gate_up;
  at::Tensor unnormed;  // undefined without head norms
};

template <typename T>
T* data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr<T>() : nullptr;
}

template <typename T>
at::Tensor layer_forward(const cpu::LayerShape& shape, const PackedLayout& layout,
                         const variable_list& weights, Activations& activations) {
  static thread_local cpu::TransposedLayer<T> transposed;
  cpu::transpose_weights(shape, readable<T>(weights, 0), transposed);
  const at::Tensor out = at::empty_like(activations.x);
  const T* x = activations.x.const_data_ptr<T>();
  cpu::project(shape, transposed, rope_of<T>(layout), layout.positions, x,
               activations.qkv.mutable_data_ptr<T>(), data_or_null<T>(activations.unnormed));
  cpu::attend(shape, layout.offsets, activations.qkv.const_data_ptr<T>(),
              activations.attended.mutable_data_ptr<T>(),
              data_or_null<T>(activations.log_normaliser), shared_of(layout));
  cpu::finish<T>(shape, transposed, activations.x.size(0),
                 {.x = x,
                  .attended = activations.attended.const_data_ptr<T>(),
                  .middle = data_or_null<T>(activations.middle),
                  .gate_up = data_or_null<T>(activations.gate_up),
                  .out = out.mutable_data_ptr<T>()});
  return out;
}

template <typename T>
variable_list layer_backward(const LayerContext& context, const variable_list& saved,
                             const at::Tensor& d_out) {
  const auto tensor = [&](int i) -> const at::Tensor& {
    return saved[static_cast<std::size_t>(kWeightsOfLayer + i)];
  };
  variable_list gradients = {at::empty_like(tensor(0))};
  for (int i = 0; i < kWeightsOfLayer; ++i)
    gradients.push_back(saved[i].defined() ? at::empty_like(saved[i]) : at::Tensor());
  cpu::layer_backward<T>(context.shape,
                         {.offsets = &context.layout->offsets,
                          .positions = &context.layout->positions,
                          .shared = shared_of(*context.layout),
                          .rope = rope_of<T>(*context.layout),
                          .x = read<T>(tensor(0)),
                          .qkv = read<T>(tensor(1)),
                          .unnormed = tensor(6).defined() ? read<T>(tensor(6)) : nullptr,
                          .attended = read<T>(tensor(2)),
                          .log_normaliser = read<T>(tensor(3)),
                          .middle = read<T>(tensor(4)),
                          .gate_up = read<T>(tensor(5)),
                          .d_out = d_out.const_data_ptr<T>(),
                          .d_x = gradients[0].mutable_data_ptr<T>(),
                          .weights = readable<T>(saved, 0),
                          .gradients = pointers<T>(gradients, 1, data_or_null<T>)});
  return gradients;
}

struct LayerFunction : torch::autograd::Function<LayerFunction> {
  static at::Tensor forward(AutogradContext* ctx, const c10::intrusive_ptr<LayerContext>& context,
                            Keep keep, const at::Tensor& input, const Weight& w0, const Weight& w1,
                            const Weight& w2, const Weight& w3, const Weight& w4, const Weight& w5,
                            const Weight& w6, const Weight& w7, const Weight& w8, const Weight& w9,
                            const Weight& w10, const Weight& w11, const Weight& w12,
                            const Weight& w13) {
    variable_list weights;
    for (const Weight* w :
         {&w0, &w1, &w2, &w3, &w4, &w5, &w6, &w7, &w8, &w9, &w10, &w11, &w12, &w13})
      weights.push_back(*w ? (*w)->contiguous() : at::Tensor());
    const cpu::LayerShape& shape = context->shape;
    const std::int64_t rows = input.size(0);
    Activations activations{.x = input.contiguous()};
    activations.qkv = at::empty({rows, shape.qkv()}, input.options());
    activations.attended = at::empty({rows, shape.query()}, input.options());
    if (keep == Keep::for_backward) {
      activations.log_normaliser = at::empty({shape.heads, rows}, input.options());
      activations.middle = at::empty({rows, shape.hidden}, input.options());
      activations.gate_up = at::empty({rows, 2 * shape.inner}, input.options());
      if (w7)  // q_norm
        activations.unnormed =
            at::empty({rows, shape.query() + shape.key_value()}, input.options());
    }
    const at::Tensor out = dispatch(input, [&]<typename T>() {
      return layer_forward<T>(shape, *context->layout, weights, activations);
    });
    if (keep == Keep::for_backward) {
      variable_list saved = weights;
      for (const at::Tensor& t :
           {activations.x, activations.qkv, activations.attended, activations.log_normaliser,
            activations.middle, activations.gate_up, activations.unnormed})
        saved.push_back(t);
      ctx->save_for_backward(std::move(saved));
      ctx->saved_data["context"] = c10::IValue::make_capsule(context);
    }
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& d_outputs) {
    const auto saved = ctx->get_saved_variables();
    const auto capsule = ctx->saved_data["context"].toCapsule();
    const auto& context = static_cast<const LayerContext&>(*capsule);
    const at::Tensor d_out = d_outputs[0].contiguous();
    variable_list gradients =
        dispatch(d_out, [&]<typename T>() { return layer_backward<T>(context, saved, d_out); });
    gradients.insert(gradients.begin(), 2, at::Tensor());  // context and keep
    return gradients;
  }
};

}  // namespace

cpu::LayerShape layer_shape(const ModelConfig& config) {
  return {.hidden = config.hidden_size,
          .inner = config.intermediate_size,
          .heads = config.num_attention_heads,
          .kv_heads = config.num_key_value_heads,
          .head_dim = config.head_dim,
          .eps = config.rms_norm_eps};
}

std::shared_ptr<const PackedLayout> make_layout(const PackedBatch& batch, RopeTable rope) {
  auto layout = std::make_shared<PackedLayout>();
  layout->offsets = batch.offsets;
  layout->rope = std::move(rope);
  layout->positions = batch.positions();
  if (batch.is_shared()) layout->shared = shared_keys(batch);
  return layout;
}

at::Tensor fused_layer(const at::Tensor& x, const LayerWeights& weights, const ModelConfig& config,
                       std::shared_ptr<const PackedLayout> layout) {
  auto context = c10::make_intrusive<LayerContext>();
  context->shape = layer_shape(config);
  context->layout = std::move(layout);
  const auto list = list_of(weights);
  std::array<Weight, kWeightsOfLayer> w;
  for (std::size_t i = 0; i < w.size(); ++i)
    if (list[i].defined()) w[i] = list[i];
  const Keep keep = at::GradMode::is_enabled() ? Keep::for_backward : Keep::nothing;
  return LayerFunction::apply(context, keep, x, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7],
                              w[8], w[9], w[10], w[11], w[12], w[13]);
}

}  // namespace tritonsmith::model
