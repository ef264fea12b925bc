#include "model/layers/cuda_layer.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "base/check.h"

namespace tritonsmith::model {
namespace {

using cuda::Bf16;
using cuda::Half;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const cuda::Kernels& kernels() { return *cuda::kernels(); }

template <typename T = float>
T* data(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.mutable_data_ptr()) : nullptr;
}

at::Tensor half_rows(const at::Tensor& like, std::int64_t columns,
                     at::ScalarType type = at::kBFloat16) {
  return at::empty({like.size(0), columns}, like.options().dtype(type));
}

// Returns the operand of the backward's products. Gradients need bfloat16's range.
at::Tensor for_backward(const at::Tensor& half) { return half.to(at::kBFloat16); }

// A norm of x by `weight`: within a layer or after the last layer.
struct NormInput {
  const at::Tensor& x;
  const at::Tensor& weight;
  double eps;
  cuda::Stream stream;
};

// One layer of one batch.
struct LayerCall {
  CudaLayerWeights weights;
  const ModelConfig& config;
  const CudaBatch& batch;
  Cublas& cublas;
  cuda::Stream stream;

  int heads() const { return static_cast<int>(config.num_attention_heads); }
  int kv_heads() const { return static_cast<int>(config.num_key_value_heads); }
  int head_dim() const { return static_cast<int>(config.head_dim); }
  // The type of the forward's computation.
  at::ScalarType type() const { return weights.half->qkv.scalar_type(); }
  cuda::HalfType half_type() const { return half_type_of(weights.half->qkv); }
  AttentionBatch attention() const {
    return {.offsets = batch.offsets,
            .longest = batch.longest,
            .is_even = batch.is_even,
            .scale = scale(),
            .sums = batch.sums,
            .shared = batch.shared ? &*batch.shared : nullptr};
  }
  NormInput norm_input(const at::Tensor& x, const at::Tensor& weight) const {
    return {x, weight, config.rms_norm_eps, stream};
  }
  double scale() const { return 1.0 / std::sqrt(static_cast<double>(config.head_dim)); }
};

// The tensors that the forward makes and the backward reads.
struct Activations {
  at::Tensor qkv;  // [T, (heads + 2 kv_heads) D], after RoPE
  Attended attended;
  // qkv before norm and RoPE; only if heads are normalised and the backward needs it
  at::Tensor raw;
  at::Tensor normed, normed_middle;  // [T, H], inputs of the products; bfloat16 or undefined
  at::Tensor middle;                 // [T, H] float32, after attention
  at::Tensor gate_up;                // [T, 2 I]
};

at::Tensor norm(const NormInput& input, at::ScalarType type) {
  const at::Tensor &x = input.x, &weight = input.weight;
  const at::Tensor out = half_rows(x, x.size(1), type);
  kernels().norm({.x = data(x),
                  .weight = data(weight),
                  .out = data<Half>(out),
                  .rows = x.size(0),
                  .hidden = static_cast<int>(x.size(1)),
                  .eps = static_cast<float>(input.eps),
                  .type = half_type_of(out)},
                 input.stream);
  return out;
}

// Returns the queries, keys and values of packed projections, [T, heads, D] each.
QueryKeyValue split(const at::Tensor& qkv, const ModelConfig& config) {
  const std::int64_t heads = config.num_attention_heads, kv_heads = config.num_key_value_heads;
  const at::Tensor all = qkv.view({qkv.size(0), heads + 2 * kv_heads, config.head_dim});
  return {.query = all.narrow(1, 0, heads),
          .key = all.narrow(1, heads, kv_heads),
          .value = all.narrow(1, heads + kv_heads, kv_heads)};
}

// Puts earlier keys and values in front, if there are any.
QueryKeyValue behind(const CacheTarget& target, const QueryKeyValue& qkv) {
  if (!target.earlier_keys.defined()) return qkv;
  return {.query = qkv.query,
          .key = at::cat({target.earlier_keys, qkv.key}),
          .value = at::cat({target.earlier_values, qkv.value})};
}

// Says whether tensors that only the backward reads are kept.
enum class Keep { nothing, for_backward };

// Returns the rows for the weight gradients, if the forward has them in the backward's type.
at::Tensor kept_rows(const at::Tensor& normed, Keep keep) {
  const bool is_of_use = keep == Keep::for_backward && normed.scalar_type() == at::kBFloat16;
  return is_of_use ? normed : at::Tensor();
}

void project(const at::Tensor& x, const LayerCall& call, const CacheTarget& target, Keep keep,
             Activations& kept) {
  const HalfLayer& half = *call.weights.half;
  const LayerWeights& masters = *call.weights.masters;
  const at::Tensor normed = norm(call.norm_input(x, masters.input_norm), call.type());
  kept.normed = kept_rows(normed, keep);
  kept.qkv = half_rows(x, half.qkv.size(0), call.type());
  call.cublas.linear(kept.qkv, normed, half.qkv, half.qkv_bias);
  if (keep == Keep::for_backward && masters.q_norm.defined()) kept.raw = kept.qkv.clone();
  kernels().rope({.qkv = data<Half>(kept.qkv),
                  .cos = data(call.batch.rope.cos),
                  .sin = data(call.batch.rope.sin),
                  .positions = data<int>(call.batch.positions),
                  .q_norm = data(masters.q_norm),
                  .k_norm = data(masters.k_norm),
                  .slots = data<int>(target.slots),
                  .cache = target.cache,
                  .tokens = x.size(0),
                  .heads = call.heads(),
                  .kv_heads = call.kv_heads(),
                  .head_dim = call.head_dim(),
                  .eps = static_cast<float>(call.config.rms_norm_eps),
                  .type = call.half_type()},
                 call.stream);
}

at::Tensor rows_of(const Attended& attended) {
  return attended.out.reshape({attended.out.size(0), -1});
}

// Computes the gated product of the MLP, [T, I], times inner_share().
at::Tensor gated(const LayerCall& call, const at::Tensor& middle, Keep keep, Activations& kept) {
  const HalfLayer& half = *call.weights.half;
  const at::Tensor normed =
      norm(call.norm_input(middle, call.weights.masters->post_norm), call.type());
  kept.normed_middle = kept_rows(normed, keep);
  kept.gate_up = half_rows(middle, half.gate_up.size(0), call.type());
  call.cublas.linear(kept.gate_up, normed, half.gate_up);
  const at::Tensor inner = half_rows(middle, half.down.size(1), call.type());
  kernels().swiglu({.gate_up = data<Half>(kept.gate_up),
                    .out = data<Half>(inner),
                    .tokens = middle.size(0),
                    .inner = static_cast<int>(inner.size(1)),
                    .type = call.half_type(),
                    .factor = static_cast<float>(inner_share(call.type()))},
                   call.stream);
  return inner;
}

// Computes everything except the last product, which the backward does not need.
at::Tensor forward_to_inner(const at::Tensor& x, const LayerCall& call, Activations& kept) {
  project(x, call, {}, Keep::for_backward, kept);
  kept.attended = cuda_attend(split(kept.qkv, call.config), call.attention());
  kept.middle = at::empty_like(x);
  call.cublas.linear_onto(kept.middle, x, rows_of(kept.attended), call.weights.half->o);
  return gated(call, kept.middle, Keep::for_backward, kept);
}

at::Tensor forward(const at::Tensor& x, const LayerCall& call, Activations& kept) {
  const at::Tensor inner = forward_to_inner(x, call, kept);
  const at::Tensor out = at::empty_like(x);
  call.cublas.linear_onto(out, kept.middle, inner, call.weights.half->down,
                          1 / inner_share(call.type()));
  return out;
}

// Adds d_weight of adjacent weights, from the matching columns of d_out.
void add_weight_gradients(const LayerCall& call, std::initializer_list<const at::Tensor*> masters,
                          const at::Tensor& d_out, const at::Tensor& x) {
  const at::Tensor& first = gradient_of(**masters.begin());
  std::int64_t rows = 0;
  bool is_joined = true;
  for (const at::Tensor* master : masters) {
    const at::Tensor& gradient = gradient_of(*master);
    is_joined &=
        gradient.is_alias_of(first) && data(gradient) == data(first) + rows * first.size(1);
    rows += master->size(0);
  }
  if (is_joined) {
    call.cublas.add_weight_gradient(at::as_strided(first, {rows, first.size(1)}, first.strides()),
                                    d_out, x);
    return;
  }
  std::int64_t begin = 0;
  for (const at::Tensor* master : masters) {
    call.cublas.add_weight_gradient(gradient_of(*master), d_out.narrow(1, begin, master->size(0)),
                                    x);
    begin += master->size(0);
  }
}

struct NormGradient {
  at::Tensor d_x;       // float32
  at::Tensor d_x_half;  // bfloat16, if requested
};

enum class Also { nothing, half };
NormGradient norm_backward(const NormInput& input, const at::Tensor& d_out,
                           const at::Tensor& d_residual, Also also) {
  const at::Tensor &x = input.x, &weight = input.weight;
  const NormGradient result = {at::empty_like(x),
                               also == Also::half ? half_rows(x, x.size(1)) : at::Tensor()};
  const at::Tensor partials = at::empty({cuda::kNormParts, x.size(1)}, x.options());
  kernels().norm_backward({.x = data(x),
                           .weight = data(weight),
                           .d_out = data<Bf16>(d_out),
                           .d_residual = data(d_residual),
                           .d_x = data(result.d_x),
                           .d_x_half = data<Bf16>(result.d_x_half),
                           .partials = data(partials),
                           .d_weight = data(gradient_of(weight)),
                           .rows = x.size(0),
                           .hidden = static_cast<int>(x.size(1)),
                           .eps = static_cast<float>(input.eps)},
                          input.stream);
  return result;
}

at::Tensor rows_for_gradient(const at::Tensor& activation, const NormInput& input) {
  return activation.defined() ? activation : norm(input, at::kBFloat16);
}

// Computes the gradient of `middle` from that of the layer's output, in both types.
NormGradient mlp_backward(const LayerCall& call, const Activations& kept, const at::Tensor& d_out) {
  const HalfLayer& half = *call.weights.half;
  const LayerWeights& masters = *call.weights.masters;
  const at::Tensor d_out_half = d_out.to(at::kBFloat16);
  const at::Tensor inner = half_rows(d_out, half.down.size(1));  // first used for its gradient
  call.cublas.input_gradient(inner, d_out_half, for_backward(half.down));
  kernels().swiglu_backward({.gate_up = data<Half>(kept.gate_up),
                             .d_out = data<Bf16>(inner),
                             .tokens = d_out.size(0),
                             .inner = static_cast<int>(inner.size(1)),
                             .type = call.half_type()},
                            call.stream);
  const at::Tensor d_gate_up = kept.gate_up.view(at::kBFloat16);
  add_weight_gradients(call, {&masters.down}, d_out_half, inner);
  const NormInput input = call.norm_input(kept.middle, masters.post_norm);
  const at::Tensor normed = rows_for_gradient(kept.normed_middle, input);
  add_weight_gradients(call, {&masters.gate, &masters.up}, d_gate_up, normed);
  const at::Tensor d_normed = at::empty_like(normed);
  call.cublas.input_gradient(d_normed, d_gate_up, for_backward(half.gate_up));
  return norm_backward(input, d_normed, d_out, Also::half);
}

// Returns the gradient of the packed projections before RoPE.
at::Tensor attention_backward(const LayerCall& call, const Activations& kept,
                              const at::Tensor& d_attended) {
  const QueryKeyValue gradient =
      cuda_attend_backward(split(for_backward(kept.qkv), call.config), kept.attended,
                           d_attended.view(kept.attended.out.sizes()), call.attention());
  const at::Tensor d_qkv = half_rows(kept.qkv, kept.qkv.size(1));
  const LayerWeights& masters = *call.weights.masters;
  const bool is_normed = masters.q_norm.defined();
  const at::Tensor partials = is_normed ? at::empty({cuda::kRopeParts, 2, call.config.head_dim},
                                                    d_qkv.options().dtype(at::kFloat))
                                        : at::Tensor();
  kernels().rope_backward({.d_query = data<Bf16>(gradient.query),
                           .d_key = data<Bf16>(gradient.key),
                           .d_value = data<Bf16>(gradient.value),
                           .d_qkv = data<Bf16>(d_qkv),
                           .cos = data(call.batch.rope.cos),
                           .sin = data(call.batch.rope.sin),
                           .positions = data<int>(call.batch.positions),
                           .raw = data<Half>(kept.raw),
                           .q_norm = data(masters.q_norm),
                           .k_norm = data(masters.k_norm),
                           .partials = data(partials),
                           .d_q_norm = is_normed ? data(gradient_of(masters.q_norm)) : nullptr,
                           .d_k_norm = is_normed ? data(gradient_of(masters.k_norm)) : nullptr,
                           .tokens = d_qkv.size(0),
                           .heads = call.heads(),
                           .kv_heads = call.kv_heads(),
                           .head_dim = call.head_dim(),
                           .eps = static_cast<float>(call.config.rms_norm_eps),
                           .type = call.half_type()},
                          call.stream);
  return d_qkv;
}

void add_bias_gradients(const LayerWeights& masters, const at::Tensor& d_qkv) {
  if (!masters.q_bias.defined()) return;
  const at::Tensor sums = d_qkv.sum(0, /*keepdim=*/false, at::kFloat);
  std::int64_t begin = 0;
  for (const at::Tensor* bias : {&masters.q_bias, &masters.k_bias, &masters.v_bias}) {
    gradient_of(*bias).add_(sums.narrow(0, begin, bias->size(0)));
    begin += bias->size(0);
  }
}

at::Tensor backward(const at::Tensor& x, const LayerCall& call, const Activations& kept,
                    const at::Tensor& d_out) {
  const HalfLayer& half = *call.weights.half;
  const LayerWeights& masters = *call.weights.masters;
  const NormGradient d_middle = mlp_backward(call, kept, d_out);
  const at::Tensor attended = for_backward(rows_of(kept.attended));
  add_weight_gradients(call, {&masters.o}, d_middle.d_x_half, attended);
  const at::Tensor d_attended = half_rows(x, half.o.size(1));
  call.cublas.input_gradient(d_attended, d_middle.d_x_half, for_backward(half.o));
  const at::Tensor d_qkv = attention_backward(call, kept, d_attended);
  add_bias_gradients(masters, d_qkv);
  const NormInput input = call.norm_input(x, masters.input_norm);
  const at::Tensor normed = rows_for_gradient(kept.normed, input);
  add_weight_gradients(call, {&masters.q, &masters.k, &masters.v}, d_qkv, normed);
  const at::Tensor d_normed = at::empty_like(normed);
  call.cublas.input_gradient(d_normed, d_qkv, for_backward(half.qkv));
  return norm_backward(input, d_normed, d_middle.d_x, Also::nothing).d_x;
}

struct LayerContext : torch::CustomClassHolder {
  LayerWeights masters;
  HalfLayer half;
  ModelConfig config;
  std::shared_ptr<const CudaBatch> batch;
  Recompute recompute = Recompute::nothing;
  c10::Device device = c10::kCPU;

  LayerCall call() const {
    return {.weights = {&masters, &half},
            .config = config,
            .batch = *batch,
            .cublas = training_cublas(device, batch->sums),
            .stream = current_stream(device)};
  }
};

struct LayerFunction : torch::autograd::Function<LayerFunction> {
  static at::Tensor forward(AutogradContext* ctx, const c10::intrusive_ptr<LayerContext>& context,
                            const at::Tensor& x) {
    Activations kept;
    const at::Tensor out = model::forward(x, context->call(), kept);
    variable_list saved = {x};
    if (context->recompute == Recompute::nothing)
      saved.insert(saved.end(), {kept.qkv, kept.attended.out, kept.attended.log_normaliser,
                                 kept.attended.random_state, kept.attended.unused, kept.raw,
                                 kept.normed, kept.normed_middle, kept.middle, kept.gate_up});
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["context"] = c10::IValue::make_capsule(context);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& d_outputs) {
    const at::NoGradGuard no_grad;
    const auto saved = ctx->get_saved_variables();
    const auto capsule = ctx->saved_data["context"].toCapsule();
    const auto& context = static_cast<const LayerContext&>(*capsule);
    const LayerCall call = context.call();
    Activations kept;
    if (context.recompute == Recompute::nothing) {
      kept = {saved[1], {saved[2], saved[3], saved[4], saved[5]},
              saved[6], saved[7],
              saved[8], saved[9],
              saved[10]};
    } else {
      forward_to_inner(saved[0], call, kept);
    }
    return {at::Tensor(), model::backward(saved[0], call, kept, d_outputs[0].contiguous())};
  }
};

// A dense gradient would allocate and read a large table for the few rows of a batch.
struct EmbeddingFunction : torch::autograd::Function<EmbeddingFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& table,
                            const at::Tensor& tokens) {
    ctx->save_for_backward({table, tokens});
    return at::embedding(table, tokens);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& d_outputs) {
    const at::NoGradGuard no_grad;
    const auto saved = ctx->get_saved_variables();
    gradient_of(saved[0]).index_add_(0, saved[1], d_outputs[0]);
    return {at::Tensor(), at::Tensor()};
  }
};

struct NormFunction : torch::autograd::Function<NormFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            double eps, at::ScalarType type) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["eps"] = eps;
    const at::Tensor out = norm({x, weight, eps, current_stream(x.device())}, type);
    return type == at::kHalf ? out.to(at::kFloat) : out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& d_outputs) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor d_out = d_outputs[0].to(at::kBFloat16).contiguous();
    const NormInput input = {saved[0], saved[1], ctx->saved_data["eps"].toDouble(),
                             current_stream(d_out.device())};
    const auto gradient = norm_backward(input, d_out, {}, Also::nothing);
    return {gradient.d_x, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

cuda::HalfType half_type_of(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf ? cuda::HalfType::float16 : cuda::HalfType::bfloat16;
}

double inner_share(c10::ScalarType type) { return type == at::kHalf ? 1.0 / 16 : 1.0; }

at::Tensor& gradient_of(const at::Tensor& leaf) {
  at::Tensor& gradient = leaf.mutable_grad();
  if (!gradient.defined()) gradient = at::zeros_like(leaf.detach());
  return gradient;
}

Cublas& training_cublas(c10::Device device, Sums sums) {
  // Never destroyed, because CUDA may end first.
  static auto* fast = new Cublas(device, KernelChoice::measure_if_frequent);
  if (sums == Sums::fast) return *fast;
  static auto* equal = new Cublas(device, KernelChoice::measure_if_frequent, Sums::equal);
  return *equal;
}

std::shared_ptr<const CudaBatch> make_cuda_batch(const PackedBatch& batch, RopeTable rope,
                                                 Sums sums) {
  const auto on_device = [&](const std::vector<std::int64_t>& values) {
    return at::tensor(values, at::kInt).to(batch.tokens.device());
  };
  CudaBatch made{.offsets = on_device(batch.offsets),
                 .positions = on_device(batch.positions()),
                 .rope = std::move(rope),
                 .longest = batch.longest_rows(),
                 .is_even = batch.longest() * batch.sequences() == batch.length(),
                 .sums = sums,
                 .shared = {}};
  if (batch.is_shared()) {
    const SharedKeys keys = shared_keys(batch);
    made.shared = {.rows = on_device(keys.rows),
                   .offsets = on_device(keys.offsets),
                   .longest = keys.longest,
                   .uses = on_device(keys.uses),
                   .use_offsets = on_device(keys.use_offsets)};
  }
  return std::make_shared<const CudaBatch>(std::move(made));
}

void cuda_layer_inference(const at::Tensor& x, const CudaLayerWeights& weights,
                          const ModelConfig& config, const CudaBatch& batch, Cublas& cublas,
                          const CacheTarget& target) {
  const LayerCall call = {.weights = weights,
                          .config = config,
                          .batch = batch,
                          .cublas = cublas,
                          .stream = current_stream(x.device())};
  Activations kept;
  project(x, call, target, Keep::nothing, kept);
  kept.attended = cuda_attend(behind(target, split(kept.qkv, config)), call.attention());
  cublas.linear_onto(x, x, rows_of(kept.attended), weights.half->o);
  const at::Tensor inner = gated(call, x, Keep::nothing, kept);
  cublas.linear_onto(x, x, inner, weights.half->down, 1 / inner_share(call.type()));
}

at::Tensor cuda_layer(const at::Tensor& x, const CudaLayerWeights& weights,
                      const ModelConfig& config, std::shared_ptr<const CudaBatch> batch,
                      Recompute recompute) {
  auto context = c10::make_intrusive<LayerContext>();
  context->masters = *weights.masters;
  context->half = *weights.half;
  context->config = config;
  context->batch = std::move(batch);
  context->recompute = recompute;
  context->device = x.device();
  return LayerFunction::apply(context, x);
}

at::Tensor cuda_embedding(const at::Tensor& table, const at::Tensor& tokens) {
  return table.is_leaf() && table.requires_grad() ? EmbeddingFunction::apply(table, tokens)
                                                  : at::embedding(table, tokens);
}

at::Tensor cuda_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps,
                         c10::ScalarType type) {
  return NormFunction::apply(x, weight, eps, type);
}

}  // namespace tritonsmith::model
