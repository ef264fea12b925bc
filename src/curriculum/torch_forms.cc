#include <map>

#include "base/check.h"
#include "curriculum/torch_source.h"

namespace tritonsmith::curriculum {

namespace {

const std::map<Op, std::vector<std::string>> kTorchForms = {
    {Op::relu, {"torch.relu({x})", "F.relu({x})", "{x}.relu()", "{x}.clamp(min=0)"}},
    {Op::leaky_relu, {"F.leaky_relu({x}, {0})", "F.leaky_relu({x}, negative_slope={0})"}},
    {Op::elu, {"F.elu({x})"}},
    {Op::celu, {"F.celu({x}, alpha={0})"}},
    {Op::selu, {"F.selu({x})", "torch.selu({x})"}},
    {Op::sigmoid, {"torch.sigmoid({x})", "F.sigmoid({x})", "{x}.sigmoid()"}},
    {Op::tanh, {"torch.tanh({x})", "{x}.tanh()", "F.tanh({x})"}},
    {Op::gelu, {"F.gelu({x})"}},
    {Op::gelu_tanh, {"F.gelu({x}, approximate=\"tanh\")"}},
    {Op::silu, {"F.silu({x})"}},
    {Op::quick_gelu, {"{x} * torch.sigmoid(1.702 * {x})"}},
    {Op::mish, {"F.mish({x})"}},
    {Op::softplus, {"F.softplus({x})"}},
    {Op::softsign, {"F.softsign({x})"}},
    {Op::hardswish, {"F.hardswish({x})"}},
    {Op::hardsigmoid, {"F.hardsigmoid({x})"}},
    {Op::hardtanh, {"F.hardtanh({x})", "F.hardtanh({x}, -1.0, 1.0)"}},
    {Op::relu6, {"F.relu6({x})"}},
    {Op::clamp,
     {"torch.clamp({x}, {0}, {1})", "{x}.clamp({0}, {1})", "torch.clamp({x}, min={0}, max={1})"}},
    {Op::softshrink, {"F.softshrink({x}, {0})"}},
    {Op::logsigmoid, {"F.logsigmoid({x})"}},
    {Op::tanhshrink, {"F.tanhshrink({x})", "{x} - torch.tanh({x})"}},
    {Op::erf, {"torch.erf({x})", "{x}.erf()"}},
    {Op::exp, {"torch.exp({x})", "{x}.exp()"}},
    {Op::exp_neg_abs, {"torch.exp(-torch.abs({x}))", "torch.exp(-{x}.abs())"}},
    {Op::gaussian, {"torch.exp(-torch.square({x}))", "torch.exp(-{x} * {x})"}},
    {Op::log1p_abs, {"torch.log1p(torch.abs({x}))", "torch.log(1.0 + {x}.abs())"}},
    {Op::sqrt_abs, {"torch.sqrt(torch.abs({x}))", "{x}.abs().sqrt()"}},
    {Op::inverse_root,
     {"torch.rsqrt(1.0 + torch.square({x}))", "1.0 / torch.sqrt(1.0 + {x}.pow(2))"}},
    {Op::reciprocal, {"1.0 / (1.0 + torch.abs({x}))", "torch.reciprocal(1.0 + {x}.abs())"}},
    {Op::square, {"torch.square({x})", "{x}.pow(2)", "{x} * {x}"}},
    {Op::cube, {"torch.pow({x}, 3)", "{x}.pow(3)", "{x} * {x} * {x}"}},
    {Op::abs, {"torch.abs({x})", "{x}.abs()"}},
    {Op::neg, {"-{x}", "torch.neg({x})"}},
    {Op::sin, {"torch.sin({x})", "{x}.sin()"}},
    {Op::cos, {"torch.cos({x})", "{x}.cos()"}},
    {Op::add_constant, {"{x} + {0}", "torch.add({x}, {0})"}},
    {Op::subtract_from, {"{0} - {x}"}},
    {Op::mul_constant, {"{x} * {0}", "{0} * {x}"}},
    {Op::div_constant, {"{x} / {0}"}},
    {Op::max_constant, {"torch.clamp({x}, min={0})", "{x}.clamp(min={0})"}},
    {Op::min_constant, {"torch.clamp({x}, max={0})", "{x}.clamp(max={0})"}},
    {Op::add, {"{x} + {y}", "torch.add({x}, {y})"}},
    {Op::sub, {"{x} - {y}"}},
    {Op::mul, {"{x} * {y}", "torch.mul({x}, {y})"}},
    {Op::maximum, {"torch.maximum({x}, {y})", "torch.max({x}, {y})"}},
    {Op::minimum, {"torch.minimum({x}, {y})", "torch.min({x}, {y})"}},
    {Op::div_abs, {"{x} / (1.0 + torch.abs({y}))", "{x} / ({y}.abs() + 1.0)"}},
    {Op::squared_difference, {"torch.square({x} - {y})", "({x} - {y}).pow(2)"}},
    {Op::hypot, {"torch.sqrt(1.0 + torch.square({x}) + torch.square({y}))"}},
    {Op::lerp, {"torch.lerp({x}, {y}, {0})", "{x} + {0} * ({y} - {x})"}},
    {Op::glu, {"{x} * torch.sigmoid({y})"}},
    {Op::sum, {"torch.sum({x}, dim=-1{k})", "{x}.sum(dim=-1{k})"}},
    {Op::mean, {"torch.mean({x}, dim=-1{k})", "{x}.mean(dim=-1{k})"}},
    {Op::max, {"torch.amax({x}, dim=-1{k})", "{x}.amax(dim=-1{k})"}},
    {Op::min, {"torch.amin({x}, dim=-1{k})", "{x}.amin(dim=-1{k})"}},
    {Op::sumsq, {"torch.sum(torch.square({x}), dim=-1{k})", "{x}.pow(2).sum(dim=-1{k})"}},
    {Op::l2norm, {"torch.linalg.vector_norm({x}, dim=-1{k})", "torch.norm({x}, p=2, dim=-1{k})"}},
    {Op::var, {"torch.var({x}, dim=-1, unbiased=False{k})", "{x}.var(dim=-1, unbiased=False{k})"}},
    {Op::logsumexp, {"torch.logsumexp({x}, dim=-1{k})", "{x}.logsumexp(dim=-1{k})"}},
    {Op::softmax, {"torch.softmax({x}, dim=-1)", "F.softmax({x}, dim=-1)", "{x}.softmax(dim=-1)"}},
    {Op::log_softmax, {"torch.log_softmax({x}, dim=-1)", "F.log_softmax({x}, dim=-1)"}},
    {Op::layernorm, {"F.layer_norm({x}, {x}.shape[-1:], eps={0})"}},
    {Op::rmsnorm,
     {"{x} * torch.rsqrt(torch.mean(torch.square({x}), dim=-1, keepdim=True) + {0})",
      "{x} / torch.sqrt({x}.pow(2).mean(dim=-1, keepdim=True) + {0})"}},
    {Op::l2normalize, {"{x} / (1.0 + torch.linalg.vector_norm({x}, dim=-1, keepdim=True))"}},
    {Op::center,
     {"{x} - torch.mean({x}, dim=-1, keepdim=True)", "{x} - {x}.mean(dim=-1, keepdim=True)"}},
    {Op::peak_normalize, {"{x} / (1.0 + torch.amax(torch.abs({x}), dim=-1, keepdim=True))"}},
    {Op::matmul, {"torch.matmul({x}, {y})", "{x} @ {y}"}},
};

}  // namespace

const std::vector<std::string>& torch_forms(Op op) {
  const auto found = kTorchForms.find(op);
  CHECK(found != kTorchForms.end(), "no PyTorch form of {}", describe(op).name);
  return found->second;
}

}  // namespace tritonsmith::curriculum
