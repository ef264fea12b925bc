#include "curriculum/teacher/triton_forms.h"

#include <map>

#include "base/check.h"

namespace tritonsmith::curriculum {

namespace {

const std::map<Op, std::string_view> kTritonForms = {
    {Op::relu, "tl.maximum({x}, 0)"},
    {Op::leaky_relu, "tl.where({x} > 0, {x}, {x} * {0})"},
    {Op::elu, "tl.where({x} > 0, {x}, tl.exp({x}) - 1)"},
    {Op::celu, "tl.where({x} > 0, {x}, {0} * (tl.exp({x} / {0}) - 1))"},
    {Op::selu, "1.050701 * tl.where({x} > 0, {x}, 1.6732632 * (tl.exp({x}) - 1))"},
    {Op::sigmoid, "tl.sigmoid({x})"},
    {Op::tanh, "2 * tl.sigmoid(2 * {x}) - 1"},
    {Op::gelu, "0.5 * {x} * (1 + tl.erf({x} * 0.70710678))"},
    {Op::gelu_tanh, "{x} * tl.sigmoid(1.59576912 * ({x} + 0.044715 * {x} * {x} * {x}))"},
    {Op::silu, "{x} * tl.sigmoid({x})"},
    {Op::quick_gelu, "{x} * tl.sigmoid(1.702 * {x})"},
    {Op::mish, "{x} * (2 * tl.sigmoid(2 * tl.log(1 + tl.exp({x}))) - 1)"},
    {Op::softplus, "tl.where({x} > 20, {x}, tl.log(1 + tl.exp({x})))"},
    {Op::softsign, "{x} / (1 + tl.abs({x}))"},
    {Op::hardswish, "{x} * tl.minimum(tl.maximum({x} + 3, 0), 6) / 6"},
    {Op::hardsigmoid, "tl.minimum(tl.maximum({x} / 6 + 0.5, 0), 1)"},
    {Op::hardtanh, "tl.minimum(tl.maximum({x}, -1), 1)"},
    {Op::relu6, "tl.minimum(tl.maximum({x}, 0), 6)"},
    {Op::clamp, "tl.minimum(tl.maximum({x}, {0}), {1})"},
    {Op::softshrink, "{x} - tl.minimum(tl.maximum({x}, -{0}), {0})"},
    {Op::logsigmoid, "tl.minimum({x}, 0) - tl.log(1 + tl.exp(-tl.abs({x})))"},
    {Op::tanhshrink, "{x} - 2 * tl.sigmoid(2 * {x}) + 1"},
    {Op::erf, "tl.erf({x})"},
    {Op::exp, "tl.exp({x})"},
    {Op::exp_neg_abs, "tl.exp(-tl.abs({x}))"},
    {Op::gaussian, "tl.exp(-{x} * {x})"},
    {Op::log1p_abs, "tl.log(1 + tl.abs({x}))"},
    {Op::sqrt_abs, "tl.sqrt(tl.abs({x}))"},
    {Op::inverse_root, "1 / tl.sqrt(1 + {x} * {x})"},
    {Op::reciprocal, "1 / (1 + tl.abs({x}))"},
    {Op::square, "{x} * {x}"},
    {Op::cube, "{x} * {x} * {x}"},
    {Op::abs, "tl.abs({x})"},
    {Op::neg, "-{x}"},
    {Op::sin, "tl.sin({x})"},
    {Op::cos, "tl.cos({x})"},
    {Op::add_constant, "{x} + {0}"},
    {Op::subtract_from, "{0} - {x}"},
    {Op::mul_constant, "{x} * {0}"},
    {Op::div_constant, "{x} / {0}"},
    {Op::max_constant, "tl.maximum({x}, {0})"},
    {Op::min_constant, "tl.minimum({x}, {0})"},
    {Op::add, "{x} + {y}"},
    {Op::sub, "{x} - {y}"},
    {Op::mul, "{x} * {y}"},
    {Op::maximum, "tl.maximum({x}, {y})"},
    {Op::minimum, "tl.minimum({x}, {y})"},
    {Op::div_abs, "{x} / (1 + tl.abs({y}))"},
    {Op::squared_difference, "({x} - {y}) * ({x} - {y})"},
    {Op::hypot, "tl.sqrt(1 + {x} * {x} + {y} * {y})"},
    {Op::lerp, "{x} + {0} * ({y} - {x})"},
    {Op::glu, "{x} * tl.sigmoid({y})"},
};

}  // namespace

std::string_view triton_form(Op op) {
  const auto found = kTritonForms.find(op);
  CHECK(found != kTritonForms.end(), "no Triton form of {}", describe(op).name);
  return found->second;
}

const RowForm& row_form(Op op) {
  const RowPass total{"total", Gather::sum, "{x}", ""},
      mean{"mean", Gather::sum, "{x}", "{s} / {n}"};
  const RowPass squares{"squares", Gather::sum, "{x} * {x}", ""};
  const RowPass mean_square{"mean_square", Gather::sum, "{x} * {x}", "{s} / {n}"};
  const RowPass variance{"variance", Gather::sum, "({x} - {a}) * ({x} - {a})", "{s} / {n}"};
  const RowPass largest{"largest", Gather::max, "{x}", ""};
  const RowPass exponentials{"denominator", Gather::sum, "tl.exp({x} - {a})", ""};
  static const std::map<Op, RowForm> forms = {
      {Op::sum, {{total}, "{a}"}},
      {Op::mean, {{mean}, "{a}"}},
      {Op::max, {{largest}, "{a}"}},
      {Op::min, {{{"smallest", Gather::min, "{x}", ""}}, "{a}"}},
      {Op::sumsq, {{squares}, "{a}"}},
      {Op::l2norm, {{{"norm", Gather::sum, "{x} * {x}", "tl.sqrt({s})"}}, "{a}"}},
      {Op::var, {{mean, variance}, "{b}"}},
      {Op::logsumexp, {{largest, exponentials}, "{a} + tl.log({b})"}},
      {Op::softmax, {{largest, exponentials}, "tl.exp({x} - {a}) / {b}"}},
      {Op::log_softmax, {{largest, exponentials}, "{x} - {a} - tl.log({b})"}},
      {Op::layernorm, {{mean, variance}, "({x} - {a}) / tl.sqrt({b} + {0})"}},
      {Op::rmsnorm, {{mean_square}, "{x} / tl.sqrt({a} + {0})"}},
      {Op::l2normalize, {{{"norm", Gather::sum, "{x} * {x}", "tl.sqrt({s})"}}, "{x} / (1 + {a})"}},
      {Op::center, {{mean}, "{x} - {a}"}},
      {Op::peak_normalize, {{{"peak", Gather::max, "tl.abs({x})", ""}}, "{x} / (1 + {a})"}},
  };
  const auto found = forms.find(op);
  CHECK(found != forms.end(), "no row form of {}", describe(op).name);
  return found->second;
}

std::string_view neutral(Gather gather) {
  switch (gather) {
    case Gather::sum:
      return "0";
    case Gather::max:
      return "float(\"-inf\")";
    case Gather::min:
      return "float(\"inf\")";
  }
  return "";
}

std::string_view gather_name(Gather gather) {
  switch (gather) {
    case Gather::sum:
      return "sum";
    case Gather::max:
      return "max";
    case Gather::min:
      return "min";
  }
  return "";
}

std::string substitute(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

}  // namespace tritonsmith::curriculum
