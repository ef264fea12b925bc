#include <cmath>
#include <limits>

#include "gym/triton_ir/execute/elementwise.h"
#include "gym/triton_ir/execute/loops.h"

namespace tritonsmith::gym::triton_ir {
namespace {

template <auto function>
constexpr HandlerRow one() {
  return {.f32 = unary<float, function>, .f64 = unary<double, function>};
}
template <auto function>
constexpr HandlerRow two() {
  return {.f32 = binary<float, function>, .f64 = binary<double, function>};
}
template <auto function>
constexpr HandlerRow three() {
  return {.f32 = ternary<float, function>, .f64 = ternary<double, function>};
}

template <typename T>
T propagating_max(T a, T b) {
  return a != a ? a : (b != b ? b : (a > b ? a : b));
}
template <typename T>
T propagating_min(T a, T b) {
  return a != a ? a : (b != b ? b : (a < b ? a : b));
}
// Returns the operand that is not NaN, or NaN if both are.
template <typename T>
T number_max(T a, T b) {
  return a > b || b != b ? a : b;
}
template <typename T>
T number_min(T a, T b) {
  return a < b || b != b ? a : b;
}

constexpr auto kRoundEven = [](auto a) { return std::nearbyint(a); };

constexpr ElementwiseOperation kFloatOperations[] = {
    {"arith.addf", 2, two<[](auto a, auto b) { return a + b; }>()},
    {"arith.subf", 2, two<[](auto a, auto b) { return a - b; }>()},
    {"arith.mulf", 2, two<[](auto a, auto b) { return a * b; }>()},
    {"arith.divf", 2, two<[](auto a, auto b) { return a / b; }>()},
    {"tt.precise_divf", 2, two<[](auto a, auto b) { return a / b; }>()},
    {"arith.remf", 2, two<[](auto a, auto b) { return std::fmod(a, b); }>()},
    {"arith.negf", 1, one<[](auto a) { return -a; }>()},
    {"arith.maxnumf", 2, two<[](auto a, auto b) { return number_max(a, b); }>()},
    {"arith.minnumf", 2, two<[](auto a, auto b) { return number_min(a, b); }>()},
    {"arith.maximumf", 2, two<[](auto a, auto b) { return propagating_max(a, b); }>()},
    {"arith.minimumf", 2, two<[](auto a, auto b) { return propagating_min(a, b); }>()},
    {"math.absf", 1, one<[](auto a) { return std::fabs(a); }>()},
    {"math.ceil", 1, one<[](auto a) { return std::ceil(a); }>()},
    {"math.floor", 1, one<[](auto a) { return std::floor(a); }>()},
    {"math.trunc", 1, one<[](auto a) { return std::trunc(a); }>()},
    {"math.round", 1, one<[](auto a) { return std::round(a); }>()},
    {"math.roundeven", 1, one<kRoundEven>()},
    {"math.sqrt", 1, one<[](auto a) { return std::sqrt(a); }>()},
    {"tt.precise_sqrt", 1, one<[](auto a) { return std::sqrt(a); }>()},
    {"math.rsqrt", 1, one<[](auto a) { return 1 / std::sqrt(a); }>()},
    {"math.cbrt", 1, one<[](auto a) { return std::cbrt(a); }>()},
    {"math.exp", 1, one<[](auto a) { return std::exp(a); }>()},
    {"math.exp2", 1, one<[](auto a) { return std::exp2(a); }>()},
    {"math.expm1", 1, one<[](auto a) { return std::expm1(a); }>()},
    {"math.log", 1, one<[](auto a) { return std::log(a); }>()},
    {"math.log2", 1, one<[](auto a) { return std::log2(a); }>()},
    {"math.log10", 1, one<[](auto a) { return std::log10(a); }>()},
    {"math.log1p", 1, one<[](auto a) { return std::log1p(a); }>()},
    {"math.sin", 1, one<[](auto a) { return std::sin(a); }>()},
    {"math.cos", 1, one<[](auto a) { return std::cos(a); }>()},
    {"math.tan", 1, one<[](auto a) { return std::tan(a); }>()},
    {"math.asin", 1, one<[](auto a) { return std::asin(a); }>()},
    {"math.acos", 1, one<[](auto a) { return std::acos(a); }>()},
    {"math.atan", 1, one<[](auto a) { return std::atan(a); }>()},
    {"math.sinh", 1, one<[](auto a) { return std::sinh(a); }>()},
    {"math.cosh", 1, one<[](auto a) { return std::cosh(a); }>()},
    {"math.tanh", 1, one<[](auto a) { return std::tanh(a); }>()},
    {"math.asinh", 1, one<[](auto a) { return std::asinh(a); }>()},
    {"math.acosh", 1, one<[](auto a) { return std::acosh(a); }>()},
    {"math.atanh", 1, one<[](auto a) { return std::atanh(a); }>()},
    {"math.erf", 1, one<[](auto a) { return std::erf(a); }>()},
    {"math.erfc", 1, one<[](auto a) { return std::erfc(a); }>()},
    {"math.atan2", 2, two<[](auto a, auto b) { return std::atan2(a, b); }>()},
    {"math.powf", 2, two<[](auto a, auto b) { return std::pow(a, b); }>()},
    {"math.copysign", 2, two<[](auto a, auto b) { return std::copysign(a, b); }>()},
    {"math.fma", 3, three<[](auto a, auto b, auto c) { return std::fma(a, b, c); }>()},
    // operands: x, low, high
    {"tt.clampf none", 3,
     three<[](auto x, auto low, auto high) { return number_min(number_max(x, low), high); }>()},
    {"tt.clampf all", 3, three<[](auto x, auto low, auto high) {
       return propagating_min(propagating_max(x, low), high);
     }>()},
};

struct FloatComparison {
  std::string_view predicate;
  HandlerRow handlers;
};

template <auto function>
constexpr HandlerRow compare() {
  return {.f32 = binary<float, function, std::uint8_t>,
          .f64 = binary<double, function, std::uint8_t>};
}

constexpr FloatComparison kFloatComparisons[] = {
    {"false", compare<[](auto, auto) { return false; }>()},
    {"oeq", compare<[](auto a, auto b) { return a == b; }>()},
    {"ogt", compare<[](auto a, auto b) { return (a > b); }>()},
    {"oge", compare<[](auto a, auto b) { return a >= b; }>()},
    {"olt", compare<[](auto a, auto b) { return (a < b); }>()},
    {"ole", compare<[](auto a, auto b) { return a <= b; }>()},
    {"one", compare<[](auto a, auto b) { return (a < b) || (a > b); }>()},
    {"ord", compare<[](auto a, auto b) { return a == a && b == b; }>()},
    {"ueq", compare<[](auto a, auto b) { return !((a < b) || (a > b)); }>()},
    {"ugt", compare<[](auto a, auto b) { return !(a <= b); }>()},
    {"uge", compare<[](auto a, auto b) { return !(a < b); }>()},
    {"ult", compare<[](auto a, auto b) { return !(a >= b); }>()},
    {"ule", compare<[](auto a, auto b) { return !(a > b); }>()},
    {"une", compare<[](auto a, auto b) { return a != b; }>()},
    {"uno", compare<[](auto a, auto b) { return a != a || b != b; }>()},
    {"true", compare<[](auto, auto) { return true; }>()},
};

}  // namespace

std::span<const ElementwiseOperation> float_operations() { return kFloatOperations; }

Handler find_float_comparison(std::string_view predicate, Element element) {
  for (const FloatComparison& comparison : kFloatComparisons)
    if (comparison.predicate == predicate) return comparison.handlers.pick(element);
  return nullptr;
}

Handler HandlerRow::pick(Element element) const {
  switch (element) {
    case Element::i1:
      return i1;
    case Element::i8:
      return i8;
    case Element::i16:
      return i16;
    case Element::i32:
      return i32;
    case Element::i64:
    case Element::pointer:
      return i64;
    case Element::f64:
      return f64;
    case Element::descriptor:
    case Element::none:
      return nullptr;
    default:
      return f32;
  }
}

const ElementwiseOperation* find_elementwise(std::string_view name) {
  for (std::span<const ElementwiseOperation> operations :
       {integer_operations(), float_operations()})
    for (const ElementwiseOperation& operation : operations)
      if (operation.name == name) return &operation;
  return nullptr;
}

}  // namespace tritonsmith::gym::triton_ir
