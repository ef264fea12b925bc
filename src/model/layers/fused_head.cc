// The final norm and the head as autograd nodes over the CPU kernels.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "model/cpu/logprob.h"
#include "model/layers/cpu_dispatch.h"
#include "model/layers/fused_layer.h"

namespace tritonsmith::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct NormFunction : torch::autograd::Function<NormFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            double eps) {
    const at::Tensor rows = x.contiguous(), out = at::empty_like(rows);
    dispatch(x, [&]<typename T>() {
      cpu::norm_rows<T>(rows.const_data_ptr<T>(), weight.const_data_ptr<T>(), rows.size(0),
                        rows.size(1), eps, out.mutable_data_ptr<T>());
    });
    ctx->save_for_backward({rows, weight});
    ctx->saved_data["eps"] = eps;
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& d_outputs) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor d_out = d_outputs[0].contiguous();
    const at::Tensor d_x = at::empty_like(saved[0]), d_weight = at::empty_like(saved[1]);
    dispatch(d_out, [&]<typename T>() {
      cpu::norm_rows_backward<T>(d_x.size(0), d_x.size(1), ctx->saved_data["eps"].toDouble(),
                                 {.x = saved[0].const_data_ptr<T>(),
                                  .weight = saved[1].const_data_ptr<T>(),
                                  .d_out = d_out.const_data_ptr<T>(),
                                  .d_x = d_x.mutable_data_ptr<T>(),
                                  .d_weight = d_weight.mutable_data_ptr<T>()});
    });
    return {d_x, d_weight, {}};
  }
};

template <typename T>
cpu::HeadShape<T> head_shape(const at::Tensor& hidden, const at::Tensor& head, double temperature) {
  return {.rows = hidden.size(0),
          .hidden = hidden.size(1),
          .vocabulary = head.size(0),
          .inverse_temperature = static_cast<T>(1.0 / temperature)};
}

struct HeadFunction : torch::autograd::Function<HeadFunction> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& hidden_in,
                               const at::Tensor& head_in, const at::Tensor& targets_in,
                               double temperature) {
    const at::Tensor hidden = hidden_in.contiguous(), head = head_in.contiguous(),
                     targets = targets_in.contiguous();
    const auto row = [&] { return at::empty({hidden.size(0)}, hidden.options()); };
    const at::Tensor logprob = row(), entropy = row(), log_normaliser = row();
    dispatch(hidden, [&]<typename T>() {
      cpu::head_logprob<T>(head_shape<T>(hidden, head, temperature),
                           {.hidden = hidden.const_data_ptr<T>(),
                            .weight = head.const_data_ptr<T>(),
                            .targets = targets.const_data_ptr<std::int64_t>(),
                            .logprob = logprob.mutable_data_ptr<T>(),
                            .entropy = entropy.mutable_data_ptr<T>(),
                            .log_normaliser = log_normaliser.mutable_data_ptr<T>()});
    });
    ctx->save_for_backward({hidden, head, targets, entropy, log_normaliser});
    ctx->saved_data["temperature"] = temperature;
    return {logprob, entropy};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& d_outputs) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &hidden = saved[0], &head = saved[1], &entropy = saved[3];
    const at::Tensor d_logprob =
        d_outputs[0].defined() ? d_outputs[0].contiguous() : at::zeros_like(entropy);
    const at::Tensor d_entropy = d_outputs[1].defined() ? d_outputs[1].contiguous() : at::Tensor();
    const at::Tensor d_hidden = at::empty_like(hidden), d_head = at::empty_like(head);
    const double temperature = ctx->saved_data["temperature"].toDouble();
    dispatch(hidden, [&]<typename T>() {
      cpu::head_logprob_backward<T>(
          head_shape<T>(hidden, head, temperature),
          {.hidden = hidden.const_data_ptr<T>(),
           .weight = head.const_data_ptr<T>(),
           .targets = saved[2].const_data_ptr<std::int64_t>(),
           .entropy = entropy.const_data_ptr<T>(),
           .log_normaliser = saved[4].const_data_ptr<T>(),
           .d_logprob = d_logprob.const_data_ptr<T>(),
           .d_entropy = d_entropy.defined() ? d_entropy.const_data_ptr<T>() : nullptr,
           .d_hidden = d_hidden.mutable_data_ptr<T>(),
           .d_weight = d_head.mutable_data_ptr<T>()});
    });
    return {d_hidden, d_head, {}, {}};
  }
};

}  // namespace

at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return NormFunction::apply(x, weight, eps);
}

LogprobAndEntropy fused_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                       const at::Tensor& targets, double temperature) {
  auto outputs = HeadFunction::apply(hidden, head_weight, targets, temperature);
  return {.logprob = outputs[0], .entropy = outputs[1]};
}

}  // namespace tritonsmith::model
