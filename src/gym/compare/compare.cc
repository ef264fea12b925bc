#include "gym/compare/compare.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gym/compare/about_times.h"
#include "gym/compare/value_kind.h"
#include "gym/tensors/scalar_type.h"

namespace tritonsmith::gym::compare {
namespace {

VerdictError wrong(ErrorClass error_class, std::string message) {
  return {.error_class = error_class, .message = std::move(message)};
}

std::string position(std::int64_t flat, at::IntArrayRef shape) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    text = fmt::format("{}{}{}", flat % shape[d], text.empty() ? "" : ", ", text);
    flat /= shape[d];
  }
  return fmt::format("[{}]", text);
}

std::string shape_text(at::IntArrayRef shape) {
  std::string text;
  for (const std::int64_t extent : shape)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return fmt::format("[{}]", text);
}

// Resolves lazy negation and conjugation, because a device's comparison reads the memory itself.
at::Tensor as_written(const at::Tensor& tensor) { return tensor.resolve_conj().resolve_neg(); }

// Returns the values as doubles in order, whatever the dtype. Complex numbers become pairs.
at::Tensor as_doubles(const at::Tensor& tensor) {
  const at::Tensor real = tensor.is_complex() ? at::view_as_real(as_written(tensor)) : tensor;
  return as_written(real).to(at::kDouble).contiguous();
}

struct Values {
  const double* at = nullptr;
  std::int64_t count = 0;
  double operator[](std::int64_t k) const { return at[k]; }
};
Values values_of(const at::Tensor& doubles) {
  return {doubles.const_data_ptr<double>(), doubles.numel()};
}

bool both_special(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (std::isinf(a) && a == b);
}

// The allowed difference from the exact result for each element: tolerance * |exact|, plus a slack
// that all elements share. The slack grows with the exact result's rms and with PyTorch's own
// rounding error, and has a small floor (tolerance_rules.h). In fp32 the floor is a few roundings
// of numbers around 1. A correct log(1 + exp(x)) needs it where the result is tiny. Measurements
// gave the constants (docs/numerics.md). There is no budget if PyTorch's rounding is large against
// the output, as in a sum that cancels to nothing, because the exact value then says little. Nor is
// there one if PyTorch gives an infinity or a NaN for a number. Elements that are not finite on
// both sides, such as a mask's -inf, do not count.
struct ExactBudget {
  Values exact;
  double scale = 0, slack = 0;
  bool usable = false;
  double at(std::int64_t k) const { return scale * std::abs(exact[k]) + slack; }
};

ExactBudget budget_from(Values reference, Values exact, const CompareOptions& how) {
  double square_sum = 0, own_error = 0, finite = 0;
  for (std::int64_t k = 0; k < exact.count; ++k) {
    if (std::isfinite(exact[k]) != std::isfinite(reference[k])) return {};
    if (!std::isfinite(exact[k])) continue;
    ++finite;
    square_sum += exact[k] * exact[k];
    own_error = std::max(own_error, std::abs(reference[k] - exact[k]));
  }
  const double rms = std::sqrt(square_sum / std::max(1.0, finite)), t = how.tolerance.value;
  return {.exact = exact,
          .scale = t,
          .slack = kToleranceRules.budget_slack(t, rms, own_error, how.final_scale),
          .usable = own_error <= kToleranceRules.usable_share_of(how.tolerance.widest) * t * rms};
}

// Returns the root mean square of the finite values.
double root_mean_square(Values values) {
  double square_sum = 0, count = 0;
  for (std::int64_t k = 0; k < values.count; ++k) {
    if (!std::isfinite(values[k])) continue;
    square_sum += values[k] * values[k];
    ++count;
  }
  return std::sqrt(square_sum / std::max(1.0, count));
}

Mismatch find_mismatch(const at::Tensor& candidate, Values got, Values expected,
                       const ExactBudget& budget, const CompareOptions& comparison) {
  Mismatch mismatch{.only_exact = true};
  const double unit =
      comparison.unit == AbsoluteUnit::one ? 1 : std::max(1.0, root_mean_square(expected));
  for (std::int64_t k = 0; k < got.count; ++k) {
    if (both_special(got[k], expected[k])) continue;
    const double difference = std::abs(got[k] - expected[k]);
    if (std::isfinite(difference)) {
      mismatch.max_abs = std::max(mismatch.max_abs, difference);
      if (expected[k] != 0)
        mismatch.max_rel = std::max(mismatch.max_rel, difference / std::abs(expected[k]));
    }
    // A difference that is not finite means that one side is an infinity or a NaN. An infinite
    // tolerance must not let it pass.
    const double allowed = comparison.tolerance.value * (unit + std::abs(expected[k]));
    const bool near = std::isfinite(difference) && difference <= allowed;
    const double off_exact = budget.usable ? std::abs(got[k] - budget.exact[k]) : 0;
    const bool exact = !budget.usable || off_exact <= budget.at(k);
    if (near && exact && !comparison.measures_right_elements) continue;
    const double excess =
        std::max(difference / allowed, budget.usable ? off_exact / budget.at(k) : 0);
    if (std::isfinite(excess)) mismatch.worst = std::max(mismatch.worst, excess);
    if (near && exact) continue;
    if (mismatch.first < 0) mismatch.first = k;
    if (!near) mismatch.only_exact = false;
    ++mismatch.count;
    if (!near && !candidate.is_complex() && tensors::holds_filler(candidate, k, comparison.filler))
      ++mismatch.unwritten;
  }
  return mismatch;
}

// Strides of dimensions of size 1 do not matter.
bool same_strides(const at::Tensor& one, const at::Tensor& other) {
  for (std::int64_t d = 0; d < one.dim(); ++d)
    if (one.size(d) != 1 && one.stride(d) != other.stride(d)) return false;
  return true;
}

// Tells whether no two elements share memory: each stride exceeds the smaller strides' reach.
bool shares_nothing(const at::Tensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and size
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) != 1) steps.emplace_back(tensor.stride(d), tensor.size(d));
  std::ranges::sort(steps);
  std::int64_t reach = 0;
  for (const auto& [stride, size] : steps) {
    if (stride <= reach) return tensor.numel() == 0;
    reach += (size - 1) * stride;
  }
  return true;
}

// The layout of an output is only what the last operator left. No prompt mentions it, and
// KernelBench's harness compares values alone. Correct kernels often write another layout: rotary
// embeddings of public libraries return a transposed view where the reference's output is
// contiguous, and KernelBench's vision attention (level 3, 31) returns a permuted view itself. Who
// needs contiguous outputs asks for them. Elements that share memory are refused where the
// reference's do not share any, because sharing saves stores.
bool is_laid_out_well(const at::Tensor& candidate, const at::Tensor& reference, Strides strides) {
  if (strides == Strides::contiguous && reference.is_contiguous()) return candidate.is_contiguous();
  return shares_nothing(candidate) || same_strides(candidate, reference);
}

std::optional<VerdictError> check_type(const std::string& what, const at::Tensor& candidate,
                                       const at::Tensor& reference, Strides strides) {
  if (candidate.scalar_type() != reference.scalar_type())
    return wrong(ErrorClass::wrong_dtype, fmt::format("{} is of type {}, expected {}", what,
                                                      tensors::type_name(candidate.scalar_type()),
                                                      tensors::type_name(reference.scalar_type())));
  if (candidate.sizes() != reference.sizes())
    return wrong(ErrorClass::wrong_shape,
                 fmt::format("{} has shape {}, expected {}", what, shape_text(candidate.sizes()),
                             shape_text(reference.sizes())));
  if (!is_laid_out_well(candidate, reference, strides))
    return wrong(
        ErrorClass::wrong_strides,
        fmt::format(
            "{} has strides {}, expected {}", what, shape_text(candidate.strides()),
            strides == Strides::contiguous && reference.is_contiguous()
                ? "a contiguous tensor"
                : fmt::format("{}, or a place for each element", shape_text(reference.strides()))));
  return std::nullopt;
}

struct Pair {
  double got = 0, expected = 0;
};

// Returns text such as "; off by 0.5, 0.0002 is allowed". Empty if a rule other than the plain
// tolerance decided, or if the unit of its absolute part is not 1.
std::string allowed_text(const Mismatch& mismatch, Pair at_first, const CompareOptions& how) {
  const double off = std::abs(at_first.got - at_first.expected);
  const double allowed = how.tolerance.value * (1 + std::abs(at_first.expected));
  std::string worst = mismatch.worst > 0 ? fmt::format("; the worst is {} as far off as is allowed",
                                                       about_times(mismatch.worst))
                                         : "";
  if (mismatch.only_exact || how.unit != AbsoluteUnit::one || !(off > allowed)) return worst;
  return fmt::format("; off by {:.3g}, {:.3g} is allowed{}", off, allowed, worst);
}

VerdictError describe(const std::string& what, const Mismatch& mismatch, Pair at_first,
                      at::IntArrayRef shape, const CompareOptions& how) {
  const std::int64_t k = mismatch.first;
  const std::int64_t elements = c10::multiply_integers(shape);
  if (mismatch.unwritten > 0 && mismatch.unwritten == mismatch.count)
    return wrong(ErrorClass::unwritten,
                 fmt::format("{}: {} of {} elements were never written, first {}", what,
                             mismatch.count, elements, position(k, shape)));
  return wrong(ErrorClass::wrong_value,
               fmt::format("{}: {} of {} elements are wrong; at {} got {:.6g}, expected {:.6g}{}{}",
                           what, mismatch.count, elements, position(k, shape), at_first.got,
                           at_first.expected, allowed_text(mismatch, at_first, how),
                           mismatch.only_exact
                               ? " (within the plain tolerance, but far from the exact result for "
                                 "outputs this small)"
                               : ""));
}

class TreeComparison {
 public:
  TreeComparison(const OutputSide& candidate, const OutputSide& reference,
                 const tensors::TensorTable& oracle, const CompareOptions& comparison,
                 Numerics& numerics)
      : candidate_(candidate.tensors),
        reference_(reference.tensors),
        oracle_(oracle),
        comparison_(comparison),
        numerics_(numerics) {}

  std::optional<VerdictError> compare(const plan::Value& got, const plan::Value& expected,
                                      const std::string& path) {
    if (got.data.index() != expected.data.index())
      return wrong(ErrorClass::wrong_structure,
                   fmt::format("{} is {}, but the reference's is {}", named(path), kind_of(got),
                               kind_of(expected)));
    if (const auto* tensor = std::get_if<plan::TensorRef>(&expected.data))
      return leaf(std::get<plan::TensorRef>(got.data).index, tensor->index, path);
    if (const auto* list = std::get_if<plan::List>(&expected.data))
      return items(std::get<plan::List>(got.data).items, list->items, path);
    if (const auto* tuple = std::get_if<plan::Tuple>(&expected.data))
      return items(std::get<plan::Tuple>(got.data).items, tuple->items, path);
    if (const auto* dict = std::get_if<plan::Dict>(&expected.data))
      return members(std::get<plan::Dict>(got.data), *dict, path);
    if (!(got == expected)) return structure(path, "is another constant");
    return std::nullopt;
  }

 private:
  // `path` leads to a part of the result: "[1]['mask']". The whole result has an empty one.
  static std::string named(const std::string& path) {
    return path.empty() ? "the output" : "output" + path;
  }

  static VerdictError structure(const std::string& path, const std::string& how) {
    return wrong(ErrorClass::wrong_structure,
                 fmt::format("{} {} than the reference's", named(path), how));
  }

  std::optional<VerdictError> leaf(int got, int expected, const std::string& path) {
    const at::Tensor& candidate = candidate_.at(static_cast<std::size_t>(got));
    if (!candidate.defined()) return structure(path, "was never made, other");
    return compare_tensors(
        named(path), candidate, reference_.at(static_cast<std::size_t>(expected)),
        oracle_.empty() ? at::Tensor() : oracle_.at(static_cast<std::size_t>(expected)),
        comparison_, numerics_);
  }

  std::optional<VerdictError> items(const std::vector<plan::Value>& got,
                                    const std::vector<plan::Value>& expected,
                                    const std::string& path) {
    if (got.size() != expected.size())
      return wrong(ErrorClass::wrong_structure,
                   fmt::format("{} has {} items, but the reference's has {}", named(path),
                               got.size(), expected.size()));
    for (std::size_t k = 0; k < got.size(); ++k)
      if (auto error = compare(got[k], expected[k], fmt::format("{}[{}]", path, k))) return error;
    return std::nullopt;
  }

  std::optional<VerdictError> members(const plan::Dict& got, const plan::Dict& expected,
                                      const std::string& path) {
    if (got.items.size() != expected.items.size()) return structure(path, "has other keys");
    for (std::size_t k = 0; k < got.items.size(); ++k) {
      if (got.items[k].key != expected.items[k].key) return structure(path, "has other keys");
      if (auto error = compare(got.items[k].value, expected.items[k].value,
                               fmt::format("{}['{}']", path, got.items[k].key)))
        return error;
    }
    return std::nullopt;
  }

  const tensors::TensorTable& candidate_;
  const tensors::TensorTable& reference_;
  const tensors::TensorTable& oracle_;
  const CompareOptions& comparison_;
  Numerics& numerics_;
};

}  // namespace

Precision precision_of(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Double:
    case c10::ScalarType::ComplexDouble:
      return Precision::bits_64;
    case c10::ScalarType::Float:
    case c10::ScalarType::ComplexFloat:
      return Precision::bits_32;
    case c10::ScalarType::Half:
    case c10::ScalarType::BFloat16:
    case c10::ScalarType::ComplexHalf:
      return Precision::bits_16;
    case c10::ScalarType::Float8_e4m3fn:
    case c10::ScalarType::Float8_e5m2:
    case c10::ScalarType::Float8_e4m3fnuz:
    case c10::ScalarType::Float8_e5m2fnuz:
      return Precision::bits_8;
    default:
      return Precision::exact;
  }
}

Tolerance tolerance_of(c10::ScalarType dtype) { return tolerance_of(precision_of(dtype)); }

bool is_kernelbenchs(c10::ScalarType dtype) {
  return dtype == c10::ScalarType::Float || dtype == c10::ScalarType::Half ||
         dtype == c10::ScalarType::BFloat16;
}

namespace {

// Returns an element of a contiguous tensor. For a complex tensor it is a real or imaginary part.
double element(const at::Tensor& tensor, std::int64_t flat) {
  const at::Tensor real = tensor.is_complex() ? at::view_as_real(tensor.resolve_conj()) : tensor;
  return real.reshape({-1})[flat].to(at::kDouble).item<double>();
}

Mismatch compare_on_cpu(const at::Tensor& candidate, const at::Tensor& reference,
                        const at::Tensor& oracle, const CompareOptions& comparison) {
  const at::Tensor got = as_doubles(candidate), expected = as_doubles(reference);
  at::Tensor exact;
  ExactBudget budget;
  if (oracle.defined()) {
    exact = as_doubles(oracle);
    budget = budget_from(values_of(expected), values_of(exact), comparison);
  }
  return find_mismatch(candidate, values_of(got), values_of(expected), budget, comparison);
}

constexpr std::int64_t kFewElements = 1 << 20;  // comparing so many again takes a few milliseconds

// The worst and the root mean square of |values - exact| / (1 + |exact|). May be NaN.
struct RelativeError {
  double worst = 0, average = 0;
};
RelativeError relative_error(const at::Tensor& values, const at::Tensor& exact) {
  const at::Tensor off = (values - exact).abs() / (exact.abs() + 1);
  return {.worst = off.max().item<double>(), .average = off.square().mean().sqrt().item<double>()};
}

bool is_within(const at::Tensor& candidate, const at::Tensor& reference, double extension) {
  if (extension <= 0 || candidate.numel() == 0 || candidate.numel() > kFewElements) return false;
  return relative_error(as_doubles(candidate.cpu()), as_doubles(reference.cpu())).worst <=
         extension;
}

// Returns nothing for complex numbers and for other precisions.
std::optional<ExtensionRules> extension_rules_of(c10::ScalarType dtype) {
  if (dtype == at::kFloat) return kToleranceRules.extension_32_bits;
  if (dtype == at::kHalf || dtype == at::kBFloat16) return kToleranceRules.extension_16_bits;
  return std::nullopt;
}

// Returns the tolerance extension, or 0. It applies if PyTorch's own rounding is not small against
// the tolerance and the candidate is about as exact as PyTorch, by the worst and the average |x -
// exact| / (1 + |exact|). The extension limits the same measure of the difference between candidate
// and PyTorch. Outputs of more than a million elements get none. docs/numerics.md explains the
// constants.
double tolerance_extension_of(const at::Tensor& candidate, const at::Tensor& reference,
                              const at::Tensor& oracle, Tolerance tolerance) {
  const c10::ScalarType dtype = reference.scalar_type();
  const auto rules = extension_rules_of(dtype);
  // There is no extension if the tolerance comes from another tensor's coarser type or exceeds that
  // of this type.
  if (!rules || tolerance.widest > precision_of(dtype) ||
      tolerance.value > tolerance_of(dtype).value)
    return 0;
  if (reference.numel() == 0 || reference.numel() > kFewElements) return 0;
  const at::Tensor got = as_doubles(candidate.cpu()), expected = as_doubles(reference.cpu()),
                   exact = as_doubles(oracle.cpu());
  if (dtype == at::kFloat &&
      budget_from(values_of(expected), values_of(exact), {.tolerance = tolerance}).usable)
    return 0;
  const double rms = exact.square().mean().sqrt().item<double>();
  const RelativeError ours = relative_error(expected, exact), theirs = relative_error(got, exact);
  if (!(ours.worst < kToleranceRules.noise)) return 0;  // also if it is NaN
  const double limit =
      std::min(rules->worst * ours.worst, rules->most * tolerance.value * std::min(1.0, rms));
  const bool is_like = theirs.worst <= limit && theirs.average <= rules->average * ours.average;
  return is_like ? (limit + ours.worst) / (1 - ours.worst) : 0;
}

}  // namespace

namespace {

// Returns the tolerance of an output whose type is finer than the widest one. It is that of the
// output's own type, widened by as much as PyTorch's own error asks for. Sixteen bits on the way to
// an fp32 output leave an error that float64 shows. An fp8 weight that is exact as it is does not.
Tolerance tolerance_of_output(const at::Tensor& reference, const at::Tensor& oracle,
                              const CompareOptions& how) {
  const Tolerance own = tolerance_of(reference.scalar_type());
  if (how.rule != Comparison::budget || !reference.is_floating_point() ||
      own.widest >= how.tolerance.widest)
    return how.tolerance;
  const double error = own_error_by_element(reference, oracle);
  if (!std::isfinite(error)) return how.tolerance;
  const double wanted = std::max(own.value, error / kToleranceRules.precise_share);
  if (wanted >= how.tolerance.value) return how.tolerance;
  return {.value = wanted, .widest = wanted > own.value ? how.tolerance.widest : own.widest};
}

// Where the reference holds one of the task's large numbers, all three sides become NaN, which is
// left out of every size. A candidate that is not near that number there stays as it is, and so is
// wrong.
struct WithoutFills {
  at::Tensor candidate, reference, oracle;
};
std::optional<WithoutFills> without_fills(const at::Tensor& candidate, const at::Tensor& reference,
                                          const at::Tensor& oracle, const CompareOptions& how) {
  const at::Tensor filled = filled_elements(reference, how.fills);
  if (!filled.defined()) return std::nullopt;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor near = at::isclose(candidate, reference, how.tolerance.value, 0);
  return WithoutFills{.candidate = candidate.masked_fill(filled.logical_and(near), nan),
                      .reference = reference.masked_fill(filled, nan),
                      .oracle = oracle.defined() && oracle.sizes() == reference.sizes()
                                    ? oracle.masked_fill(filled, nan)
                                    : oracle};
}

}  // namespace

std::optional<VerdictError> compare_tensors(const std::string& what, const at::Tensor& candidate,
                                            const at::Tensor& expected_values,
                                            const at::Tensor& oracle,
                                            const CompareOptions& comparison, Numerics& numerics) {
  if (auto error = check_type(what, candidate, expected_values, comparison.strides)) return error;
  if (const auto left = without_fills(candidate, expected_values, oracle, comparison)) {
    CompareOptions how = comparison;
    how.fills.clear();
    return compare_tensors(what, left->candidate, left->reference, left->oracle, how, numerics);
  }
  const at::Tensor plain = as_written(candidate).contiguous(),
                   reference = as_written(expected_values);
  const bool is_exact = !reference.is_floating_point() && !reference.is_complex();
  if (is_exact && at::equal(plain, reference)) return std::nullopt;
  CompareOptions how = comparison;
  if (is_exact) how.tolerance = {};
  const bool has_oracle = comparison.rule == Comparison::budget && !is_exact && oracle.defined() &&
                          oracle.sizes() == reference.sizes();
  const at::Tensor exact = has_oracle ? oracle : at::Tensor();
  if (has_oracle) {
    how.tolerance = tolerance_of_output(reference, oracle, comparison);
    if (how.tolerance.widest != comparison.tolerance.widest) how.widened = 1;
  }
  const Mismatch mismatch = how.device != nullptr
                                ? how.device->compare(plain, reference, exact, how)
                                : compare_on_cpu(plain, reference, exact, how);
  numerics.max_abs = std::max(numerics.max_abs, mismatch.max_abs);
  numerics.max_rel = std::max(numerics.max_rel, mismatch.max_rel);
  numerics.tolerance = std::max(numerics.tolerance, how.tolerance.value);
  numerics.worst_share = std::max(numerics.worst_share, mismatch.worst);
  if (mismatch.count == 0 && is_exact)  // 64-bit integers that are equal as doubles
    return wrong(ErrorClass::wrong_value, fmt::format("{}: integers differ", what));
  if (mismatch.count == 0 || is_within(plain, reference, how.tolerance_extension))
    return std::nullopt;
  Tolerance before_widening = how.tolerance;
  before_widening.value /= how.widened;
  const double extension =
      has_oracle ? tolerance_extension_of(plain, reference, exact, before_widening) : 0;
  numerics.tolerance_extension = std::max(numerics.tolerance_extension, extension);
  if (extension > 0) return std::nullopt;
  std::vector<std::int64_t> shape = reference.sizes().vec();
  if (reference.is_complex()) shape.push_back(2);
  const at::Tensor expected = reference.contiguous();
  return describe(what, mismatch,
                  {element(plain, mismatch.first), element(expected, mismatch.first)}, shape, how);
}

std::optional<VerdictError> compare_outputs(const OutputSide& candidate,
                                            const OutputSide& reference,
                                            const tensors::TensorTable& oracle,
                                            const CompareOptions& comparison, Numerics& numerics) {
  return TreeComparison(candidate, reference, oracle, comparison, numerics)
      .compare(candidate.value, reference.value, "");
}

}  // namespace tritonsmith::gym::compare
