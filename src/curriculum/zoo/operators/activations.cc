// Elementwise functions. Most are a layer, a function or a method, as the style is.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

// The kind of operand that a function needs, so that its result is neither constant nor infinite.
enum class Needs { anything, negatives, moderate, bounded };

struct Function {
  const char* layer;               // "" if there is none
  std::vector<const char*> forms;  // {x}: the operand; {r}: as the receiver of a method
  Range range = Range::any;
  Needs needs = Needs::anything;
};

std::string filled(std::string form, Sketch& s) {
  const auto put = [&](std::string_view mark, const std::string& text) {
    for (std::size_t at = 0; (at = form.find(mark, at)) != std::string::npos; at += text.size())
      form.replace(at, mark.size(), text);
  };
  const bool twice = form.find("{n}") != std::string::npos;
  if (twice) put("{n}", s.name());
  if (form.find("{r}") != std::string::npos) put("{r}", s.receiver());
  if (form.find("{x}") != std::string::npos) put("{x}", s.operand());
  return form;
}

bool fits(const Sketch& s, Needs needs) {
  const Range range = s.x().range;
  switch (needs) {
    case Needs::anything:
      return true;
    case Needs::negatives:
      return range == Range::any || range == Range::signed_unit;
    case Needs::moderate:
      return range != Range::large;
    case Needs::bounded:
      return range == Range::unit || range == Range::signed_unit;
  }
  return false;
}

bool apply(Sketch& s, const Function& function, const char* name) {
  if (!fits(s, function.needs)) return false;
  Value result = s.x();
  result.normalised = false;
  result.range = function.range;
  const bool as_layer =
      *function.layer != '\0' && (function.forms.empty() || chance(s, s.style().layers));
  if (as_layer) {
    s.become_layer(chance(s, 0.5) ? pick(s, {"act", "activation"}) : name, function.layer, result);
    return true;
  }
  const auto at =
      static_cast<std::size_t>(draw_between(s, 0, static_cast<int>(function.forms.size()) - 1));
  s.become(filled(function.forms[at], s), result);
  return true;
}

using R = Range;
using N = Needs;

bool relu(Sketch& s) {
  return apply(s,
               {"nn.ReLU()",
                {"F.relu({x})", "torch.relu({x})", "{r}.relu()", "{r}.clamp(min=0)"},
                R::positive,
                N::negatives},
               "relu");
}
bool leaky_relu(Sketch& s) {
  const std::string slope = pick(s, {"0.01", "0.1", "0.2"});
  const std::string layer = fmt::format("nn.LeakyReLU({})", slope);
  const std::string form = fmt::format("F.leaky_relu({{x}}, negative_slope={})", slope);
  return apply(s, {layer.c_str(), {form.c_str()}, R::any, N::negatives}, "lrelu");
}
bool prelu(Sketch& s) {
  const Value& x = s.x();
  if (!fits(s, N::negatives)) return false;
  const bool each = has_channels(x.layout) && chance(s, 0.5);
  s.become_layer("prelu",
                 each ? fmt::format("nn.PReLU({})", s.sizes().of(x.shape[1])) : "nn.PReLU()",
                 {.shape = x.shape, .layout = x.layout, .range = R::any});
  return true;
}
bool elu(Sketch& s) {
  return apply(s, {"nn.ELU()", {"F.elu({x})", "F.elu({x}, alpha=0.5)"}, R::any, N::negatives},
               "elu");
}
bool selu(Sketch& s) {
  return apply(s, {"nn.SELU()", {"F.selu({x})", "torch.selu({x})"}, R::any, N::negatives}, "selu");
}
bool celu(Sketch& s) {
  return apply(s, {"nn.CELU(alpha=0.7)", {"F.celu({x}, alpha=1.5)"}, R::any, N::negatives}, "celu");
}
bool gelu(Sketch& s) {
  return apply(s, {"nn.GELU()", {"F.gelu({x})", "F.gelu({x}, approximate='tanh')"}, R::any},
               "gelu");
}
bool silu(Sketch& s) {
  return apply(s, {"nn.SiLU()", {"F.silu({x})", "{n} * torch.sigmoid({n})"}, R::any}, "silu");
}
bool mish(Sketch& s) {
  return apply(s, {"nn.Mish()", {"F.mish({x})", "{n} * torch.tanh(F.softplus({n}))"}, R::any},
               "mish");
}
bool sigmoid(Sketch& s) {
  return apply(s,
               {"nn.Sigmoid()",
                {"torch.sigmoid({x})", "{r}.sigmoid()", "F.sigmoid({x})"},
                R::unit,
                N::moderate},
               "sigmoid");
}
bool tanh(Sketch& s) {
  return apply(s, {"nn.Tanh()", {"torch.tanh({x})", "{r}.tanh()"}, R::signed_unit, N::moderate},
               "tanh");
}
bool softplus(Sketch& s) {
  return apply(s, {"nn.Softplus()", {"F.softplus({x})", "F.softplus({x}, beta=2)"}, R::positive},
               "softplus");
}
bool softsign(Sketch& s) {
  return apply(
      s,
      {"nn.Softsign()", {"F.softsign({x})", "{n} / (1 + {n}.abs())"}, R::signed_unit, N::moderate},
      "softsign");
}
bool hardswish(Sketch& s) {
  return apply(s, {"nn.Hardswish()", {"F.hardswish({x})", "{n} * F.relu6({n} + 3) / 6"}, R::any},
               "hswish");
}
bool hardsigmoid(Sketch& s) {
  return apply(s, {"nn.Hardsigmoid()", {"F.hardsigmoid({x})"}, R::unit, N::moderate}, "hsigmoid");
}
bool hardtanh(Sketch& s) {
  return apply(s,
               {"nn.Hardtanh()",
                {"F.hardtanh({x}, -2.0, 2.0)", "torch.clamp({x}, -1.0, 1.0)"},
                R::any,
                N::negatives},
               "hardtanh");
}
bool relu6(Sketch& s) {
  return apply(s, {"nn.ReLU6()", {"F.relu6({x})"}, R::positive, N::negatives}, "relu6");
}
bool softshrink(Sketch& s) {
  return apply(s, {"nn.Softshrink(0.1)", {"F.softshrink({x}, 0.2)"}, R::any, N::negatives},
               "shrink");
}
bool hardshrink(Sketch& s) {
  return apply(s, {"nn.Hardshrink(0.1)", {"F.hardshrink({x}, lambd=0.2)"}, R::any, N::negatives},
               "shrink");
}
bool tanhshrink(Sketch& s) {
  return apply(s, {"nn.Tanhshrink()", {"F.tanhshrink({x})", "{n} - torch.tanh({n})"}, R::any},
               "shrink");
}
bool threshold(Sketch& s) {
  return apply(s,
               {"nn.Threshold(0.1, 0.0)",
                {"F.threshold({x}, 0.2, 0.0)", "torch.where({n} > 0.1, {n}, 0.0 * {n})"},
                R::any,
                N::negatives},
               "threshold");
}
bool log_sigmoid(Sketch& s) {
  return apply(s, {"nn.LogSigmoid()", {"F.logsigmoid({x})"}, R::negative, N::moderate},
               "log_sigmoid");
}
bool glu(Sketch& s) {
  const Value& x = s.x();
  const std::size_t dim = has_channels(x.layout) ? 1 : x.shape.size() - 1;
  if (x.shape.size() < 2 || x.shape[dim] % 2 != 0 || x.shape[dim] < 4) return false;
  Value result = x;
  result.shape[dim] /= 2;
  result.range = Range::any;
  result.normalised = false;
  const int form = draw_between(s, 0, 2);
  if (form == 0) {
    s.become(fmt::format("F.glu({}, dim={})", s.operand(), dim), result);
    return true;
  }
  const std::string own = s.name();
  const std::string a = s.variable(pick(s, {"a", "value", "left"})),
                    b = s.variable(pick(s, {"b", "gate", "right"}));
  s.line(fmt::format("{}, {} = {}.chunk(2, dim={})", a, b, own, dim));
  s.become(form == 1 ? fmt::format("{} * torch.sigmoid({})", a, b)
                     : fmt::format("F.silu({}) * {}", b, a),
           result);
  return true;
}
bool abs_value(Sketch& s) {
  return apply(s, {"", {"torch.abs({x})", "{r}.abs()"}, R::positive, N::negatives}, "abs");
}
bool square(Sketch& s) {
  return apply(
      s, {"", {"{r}.pow(2)", "torch.square({x})", "{n} * {n}", "{r} ** 2"}, R::large, N::moderate},
      "square");
}
bool exponential(Sketch& s) {
  return apply(s, {"", {"torch.exp({x})", "{r}.exp()"}, R::positive, N::bounded}, "exp");
}
bool gaussian(Sketch& s) {
  return apply(s,
               {"", {"torch.exp(-{r}.pow(2))", "torch.exp(-0.5 * {r} ** 2)"}, R::unit, N::moderate},
               "gaussian");
}
bool logarithm(Sketch& s) {
  return apply(s, {"", {"torch.log1p({r}.abs())", "torch.log({r}.abs() + 1.0)"}, R::positive},
               "log");
}
bool root(Sketch& s) {
  return apply(s,
               {"",
                {"torch.sqrt({r}.abs() + 1e-6)", "torch.rsqrt({r}.pow(2) + 1.0)"},
                R::positive,
                N::moderate},
               "root");
}
bool sine(Sketch& s) {
  return apply(s,
               {"", {"torch.sin({x})", "torch.cos({x})", "{r}.sin()"}, R::signed_unit, N::moderate},
               "sine");
}
bool error_function(Sketch& s) {
  return apply(s, {"", {"torch.erf({x})"}, R::signed_unit, N::moderate}, "erf");
}
bool arctangent(Sketch& s) {
  return apply(s, {"", {"torch.atan({x})", "torch.asinh({x})"}, R::any}, "atan");
}
constexpr Operator kActivations[] = {
    {"relu", Group::activation, 8, relu},
    {"leaky_relu", Group::activation, 5, leaky_relu},
    {"prelu", Group::activation, 2, prelu},
    {"elu", Group::activation, 3, elu},
    {"selu", Group::activation, 2, selu},
    {"celu", Group::activation, 2, celu},
    {"gelu", Group::activation, 6, gelu},
    {"silu", Group::activation, 5, silu},
    {"mish", Group::activation, 3, mish},
    {"sigmoid", Group::activation, 5, sigmoid},
    {"tanh", Group::activation, 5, tanh},
    {"softplus", Group::activation, 3, softplus},
    {"softsign", Group::activation, 2, softsign},
    {"hardswish", Group::activation, 3, hardswish},
    {"hardsigmoid", Group::activation, 2, hardsigmoid},
    {"hardtanh", Group::activation, 3, hardtanh},
    {"relu6", Group::activation, 2, relu6},
    {"softshrink", Group::activation, 1, softshrink},
    {"hardshrink", Group::activation, 1, hardshrink},
    {"tanhshrink", Group::activation, 1, tanhshrink},
    {"threshold", Group::activation, 2, threshold},
    {"log_sigmoid", Group::activation, 2, log_sigmoid},
    {"glu", Group::activation, 4, glu},
    {"abs", Group::activation, 2, abs_value},
    {"square", Group::activation, 2, square},
    {"exp", Group::activation, 2, exponential},
    {"gaussian", Group::activation, 2, gaussian},
    {"log", Group::activation, 2, logarithm},
    {"root", Group::activation, 2, root},
    {"sine", Group::activation, 2, sine},
    {"erf", Group::activation, 1, error_function},
    {"atan", Group::activation, 1, arctangent},
};

}  // namespace

std::span<const Operator> activations() { return kActivations; }

}  // namespace tritonsmith::curriculum::zoo
