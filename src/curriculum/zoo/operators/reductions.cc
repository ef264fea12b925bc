// The softmax family, reductions along dimensions, and scans.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

// A dimension other than the batch's that has several elements; -1 if there is none.
int draw_dim(Sketch& s, int least) {
  const Shape& shape = s.x().shape;
  std::vector<int> found;
  for (std::size_t i = 1; i < shape.size(); ++i)
    if (shape[i] >= least) found.push_back(static_cast<int>(i));
  if (found.empty()) return -1;
  const bool last = chance(s, 0.5) && found.back() + 1 == static_cast<int>(shape.size());
  return last ? found.back()
              : found[static_cast<std::size_t>(
                    draw_between(s, 0, static_cast<int>(found.size()) - 1))];
}

// The last dimension is often called -1.
std::string dim_text(Sketch& s, int dim) {
  const bool last = dim + 1 == static_cast<int>(s.x().shape.size());
  return std::to_string(last && chance(s, 0.6) ? -1 : dim);
}

bool softmax_like(Sketch& s, const char* function, const char* layer, Range range,
                  bool normalises) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || x.normalised || x.range == Range::large) return false;
  const int dim = draw_dim(s, 4);
  if (dim < 0) return false;
  Value result = x;
  result.range = range;
  result.normalised = normalises;
  const std::string at = dim_text(s, dim);
  if (chance(s, s.style().layers))
    s.become_layer(pick(s, {"softmax", "act"}), fmt::format("nn.{}(dim={})", layer, at), result);
  else if (std::string_view(function) != "softmin" && chance(s, 0.5))
    s.become(fmt::format("torch.{}({}, dim={})", function, s.operand(), at), result);
  else
    s.become(fmt::format("F.{}({}, dim={})", function, s.operand(), at), result);
  return true;
}

bool softmax(Sketch& s) { return softmax_like(s, "softmax", "Softmax", Range::unit, true); }
bool log_softmax(Sketch& s) {
  return softmax_like(s, "log_softmax", "LogSoftmax", Range::negative, true);
}
bool softmin(Sketch& s) { return softmax_like(s, "softmin", "Softmin", Range::unit, true); }

// A softmax with a temperature, written out.
bool own_softmax(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || x.normalised || x.range == Range::large || x.shape.back() < 4)
    return false;
  const std::string own = s.name();
  const std::string shifted = s.variable(pick(s, {"shifted", "e", "exp_x"}));
  s.line(
      fmt::format("{} = torch.exp({} - {}.max(dim=-1, keepdim=True).values)", shifted, own, own));
  Value result = x;
  result.range = Range::unit;
  result.normalised = true;
  s.become(fmt::format("{} / {}.sum(dim=-1, keepdim=True)", shifted, shifted), result);
  return true;
}

struct Reduced {
  Value value;
  std::string dims, keepdim;
};

// Takes a dimension, or several, out of the current value.
bool draw_reduction(Sketch& s, bool several, Reduced& reduced) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || x.normalised) return false;
  const int dim = draw_dim(s, 2);
  if (dim < 0) return false;
  const bool keeps = chance(s, 0.35);
  std::vector<int> dims = {dim};
  const int rank = static_cast<int>(x.shape.size());
  if (several && rank >= 4 && chance(s, 0.4))
    dims = chance(s, 0.5) ? std::vector<int>{2, 3} : std::vector<int>{rank - 2, rank - 1};
  std::string text;
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    const bool gone = std::find(dims.begin(), dims.end(), i) != dims.end();
    if (!gone) shape.push_back(x.shape[static_cast<std::size_t>(i)]);
    if (gone && keeps) shape.push_back(1);
  }
  if (shape.size() < 2 && !s.is_last()) return false;
  for (const int each : dims) text += fmt::format("{}{}", text.empty() ? "" : ", ", each);
  reduced.dims = dims.size() == 1 ? dim_text(s, dim) : "(" + text + ")";
  reduced.keepdim = keeps ? ", keepdim=True" : "";
  reduced.value.layout = keeps ? x.layout : plain_layout(shape.size());
  reduced.value.shape = std::move(shape);
  return true;
}

bool reduce(Sketch& s, const char* function, Range range, bool several = true) {
  Reduced reduced;
  if (!draw_reduction(s, several, reduced)) return false;
  reduced.value.range = range;
  if (chance(s, 0.5))
    s.become(
        fmt::format("torch.{}({}, dim={}{})", function, s.operand(), reduced.dims, reduced.keepdim),
        reduced.value);
  else
    s.become(fmt::format("{}.{}(dim={}{})", s.receiver(), function, reduced.dims, reduced.keepdim),
             reduced.value);
  return true;
}

bool sum(Sketch& s) { return reduce(s, "sum", Range::large); }
bool mean(Sketch& s) { return reduce(s, "mean", s.x().range); }
bool amax(Sketch& s) { return reduce(s, "amax", s.x().range); }
bool amin(Sketch& s) { return reduce(s, "amin", s.x().range); }
bool logsumexp(Sketch& s) {
  return s.x().range != Range::large && reduce(s, "logsumexp", Range::any);
}
bool variance(Sketch& s) {
  const Value& x = s.x();
  return x.range != Range::large && x.shape.size() >= 2 &&
         reduce(s, chance(s, 0.5) ? "var" : "std", Range::positive);
}

bool largest(Sketch& s) {
  Reduced reduced;
  if (!draw_reduction(s, false, reduced)) return false;
  reduced.value.range = s.x().range;
  const std::string function = pick(s, {"max", "min"});
  const std::string end = pick(s, {"[0]", ".values"});
  s.become(chance(s, 0.5) ? fmt::format("torch.{}({}, dim={}{}){}", function, s.operand(),
                                        reduced.dims, reduced.keepdim, end)
                          : fmt::format("{}.{}(dim={}{}){}", s.receiver(), function, reduced.dims,
                                        reduced.keepdim, end),
           reduced.value);
  return true;
}

bool length(Sketch& s) {
  Reduced reduced;
  if (!draw_reduction(s, false, reduced)) return false;
  reduced.value.range = Range::positive;
  const std::string p = pick(s, {"2", "2", "1"});
  s.become(chance(s, 0.5) ? fmt::format("torch.norm({}, p={}, dim={}{})", s.operand(), p,
                                        reduced.dims, reduced.keepdim)
                          : fmt::format("{}.norm(p={}, dim={}{})", s.receiver(), p, reduced.dims,
                                        reduced.keepdim),
           reduced.value);
  return true;
}

bool product_of_elements(Sketch& s) {
  const Value& x = s.x();
  if (x.range != Range::unit && x.range != Range::signed_unit) return false;
  Reduced reduced;
  if (!draw_reduction(s, false, reduced)) return false;
  reduced.value.range = Range::any;
  s.become(fmt::format("torch.prod(1.0 + 0.1 * {}, dim={}{})", s.receiver(), reduced.dims,
                       reduced.keepdim),
           reduced.value);
  return true;
}

bool index_of_largest(Sketch& s) {
  if (!s.is_last() || s.x().range != Range::any) return false;
  Reduced reduced;
  if (!draw_reduction(s, false, reduced)) return false;
  s.become(fmt::format("torch.{}({}, dim={}{})", pick(s, {"argmax", "argmin"}), s.operand(),
                       reduced.dims, reduced.keepdim),
           reduced.value);
  return true;
}

bool scan(Sketch& s, const char* function, bool scaled, Range range) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || x.normalised || x.range == Range::large) return false;
  const int dim = draw_dim(s, 4);
  if (dim < 0) return false;
  Value result = x;
  result.range = range;
  const std::string at = dim_text(s, dim);
  if (scaled)
    s.become(fmt::format("torch.{}(1.0 + 0.1 * {}, dim={})", function, s.receiver(), at), result);
  else if (chance(s, 0.2))
    s.become(
        fmt::format("torch.{}({}.flip({}), dim={}).flip({})", function, s.receiver(), at, at, at),
        result);
  else
    s.become(fmt::format("torch.{}({}, dim={})", function, s.operand(), at), result);
  return true;
}

bool cumsum(Sketch& s) { return scan(s, "cumsum", false, Range::large); }
bool cumprod(Sketch& s) {
  const bool bounded = s.x().range == Range::unit || s.x().range == Range::signed_unit;
  return bounded && scan(s, "cumprod", true, Range::large);
}
bool logcumsumexp(Sketch& s) { return scan(s, "logcumsumexp", false, Range::any); }

constexpr Operator kReductions[] = {
    {"softmax", Group::softmax, 8, softmax},
    {"log_softmax", Group::softmax, 4, log_softmax},
    {"softmin", Group::softmax, 1, softmin},
    {"own_softmax", Group::softmax, 2, own_softmax},
    {"sum", Group::reduction, 6, sum},
    {"mean", Group::reduction, 7, mean},
    {"amax", Group::reduction, 3, amax},
    {"amin", Group::reduction, 2, amin},
    {"logsumexp", Group::reduction, 4, logsumexp},
    {"variance", Group::reduction, 3, variance},
    {"maximum", Group::reduction, 4, largest},
    {"vector_norm", Group::reduction, 3, length},
    {"prod", Group::reduction, 1, product_of_elements},
    {"argmax", Group::reduction, 3, index_of_largest},
    {"cumsum", Group::scan, 5, cumsum},
    {"cumprod", Group::scan, 2, cumprod},
    {"logcumsumexp", Group::scan, 1, logcumsumexp},
};

}  // namespace

std::span<const Operator> reductions() { return kReductions; }

}  // namespace tritonsmith::curriculum::zoo
