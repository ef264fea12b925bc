// NVIDIA's libdevice functions by symbol. Like the C library, libdevice is within a few units in
// the last place of the correctly rounded result. Conversions have directed roundings (_rd, _ru,
// _rz), but arithmetic has none here.
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "gym/triton_ir/execute/elementwise.h"
#include "gym/triton_ir/execute/libdevice_functions.h"
#include "gym/triton_ir/execute/loops.h"

namespace tritonsmith::gym::triton_ir {
namespace {

using Table = std::map<std::string, LibdeviceFunction, std::less<>>;
using I = std::int32_t;
using L = std::int64_t;

template <typename T>
constexpr Element element_of() {
  if constexpr (std::is_same_v<T, float>)
    return Element::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Element::f64;
  else if constexpr (sizeof(T) == 8)
    return Element::i64;
  else
    return Element::i32;
}

template <typename T, auto function, typename Out = T>
void one(Table& table, const std::string& symbol) {
  table[symbol] = {.operands = {element_of<T>()},
                   .result = element_of<Out>(),
                   .handler = unary<T, function, Out>};
}
template <typename T, auto function, typename Out = T>
void two(Table& table, const std::string& symbol) {
  table[symbol] = {.operands = {element_of<T>(), element_of<T>()},
                   .result = element_of<Out>(),
                   .handler = binary<T, function, Out>};
}
template <typename T, auto function>
void three(Table& table, const std::string& symbol) {
  table[symbol] = {.operands = {element_of<T>(), element_of<T>(), element_of<T>()},
                   .result = element_of<T>(),
                   .handler = ternary<T, function>};
}

// Adds name + "f" for fp32 and name for fp64.
template <auto function>
void floats(Table& table, const std::string& name) {
  one<float, function>(table, "__nv_" + name + "f");
  one<double, function>(table, "__nv_" + name);
}
template <auto function>
void two_floats(Table& table, const std::string& name) {
  two<float, function>(table, "__nv_" + name + "f");
  two<double, function>(table, "__nv_" + name);
}

// A function of a float and an i32 that returns a float.
template <typename T, auto function>
void with_integer(Machine& machine, const Instruction& instruction) {
  T* out = machine.output<T>(instruction);
  const T* a = machine.input<T>(instruction, 0);
  const I* b = machine.input<I>(instruction, 1);
  for (std::uint32_t k = 0; k < instruction.count; ++k)
    out[k] = static_cast<T>(function(a[k], b[k]));
}
template <auto function>
void floats_with_integer(Table& table, const std::string& name) {
  table["__nv_" + name + "f"] = {.operands = {Element::f32, Element::i32},
                                 .result = Element::f32,
                                 .handler = with_integer<float, function>};
  table["__nv_" + name] = {.operands = {Element::f64, Element::i32},
                           .result = Element::f64,
                           .handler = with_integer<double, function>};
}
template <auto function>
void floats_after_integer(Table& table, const std::string& name) {  // such as jn(n, x)
  auto swapped = []<typename T>(Machine& machine, const Instruction& instruction) {
    T* out = machine.output<T>(instruction);
    const I* order = machine.input<I>(instruction, 0);
    const T* x = machine.input<T>(instruction, 1);
    for (std::uint32_t k = 0; k < instruction.count; ++k)
      out[k] = static_cast<T>(function(order[k], x[k]));
  };
  table["__nv_" + name + "f"] = {.operands = {Element::i32, Element::f32},
                                 .result = Element::f32,
                                 .handler = [](Machine& m, const Instruction& i) {
                                   decltype(swapped){}.template operator()<float>(m, i);
                                 }};
  table["__nv_" + name] = {.operands = {Element::i32, Element::f64},
                           .result = Element::f64,
                           .handler = [](Machine& m, const Instruction& i) {
                             decltype(swapped){}.template operator()<double>(m, i);
                           }};
}

void add_elementary(Table& t) {
  floats<[](auto a) { return std::acos(a); }>(t, "acos");
  floats<[](auto a) { return std::acosh(a); }>(t, "acosh");
  floats<[](auto a) { return std::asin(a); }>(t, "asin");
  floats<[](auto a) { return std::asinh(a); }>(t, "asinh");
  floats<[](auto a) { return std::atan(a); }>(t, "atan");
  floats<[](auto a) { return std::atanh(a); }>(t, "atanh");
  floats<[](auto a) { return std::cbrt(a); }>(t, "cbrt");
  floats<[](auto a) { return 1 / std::cbrt(a); }>(t, "rcbrt");
  floats<[](auto a) { return std::ceil(a); }>(t, "ceil");
  floats<[](auto a) { return std::floor(a); }>(t, "floor");
  floats<[](auto a) { return std::trunc(a); }>(t, "trunc");
  floats<[](auto a) { return std::round(a); }>(t, "round");
  floats<[](auto a) { return std::nearbyint(a); }>(t, "rint");
  floats<[](auto a) { return std::nearbyint(a); }>(t, "nearbyint");
  floats<[](auto a) { return std::fabs(a); }>(t, "fabs");
  floats<[](auto a) { return std::cos(a); }>(t, "cos");
  floats<[](auto a) { return std::cosh(a); }>(t, "cosh");
  floats<[](auto a) { return std::sin(a); }>(t, "sin");
  floats<[](auto a) { return std::sinh(a); }>(t, "sinh");
  floats<[](auto a) { return std::tan(a); }>(t, "tan");
  floats<[](auto a) { return std::tanh(a); }>(t, "tanh");
  floats<[](auto a) { return cos_pi(a); }>(t, "cospi");
  floats<[](auto a) { return sin_pi(a); }>(t, "sinpi");
  floats<[](auto a) { return std::exp(a); }>(t, "exp");
  floats<[](auto a) { return std::exp2(a); }>(t, "exp2");
  floats<[]<class T>(T a) { return static_cast<T>(std::pow(10.0, static_cast<double>(a))); }>(
      t, "exp10");
  floats<[](auto a) { return std::expm1(a); }>(t, "expm1");
  floats<[](auto a) { return std::log(a); }>(t, "log");
  floats<[](auto a) { return std::log2(a); }>(t, "log2");
  floats<[](auto a) { return std::log10(a); }>(t, "log10");
  floats<[](auto a) { return std::log1p(a); }>(t, "log1p");
  floats<[](auto a) { return std::logb(a); }>(t, "logb");
  floats<[](auto a) { return std::sqrt(a); }>(t, "sqrt");
  floats<[](auto a) { return 1 / std::sqrt(a); }>(t, "rsqrt");
}

void add_special(Table& t) {
  floats<[](auto a) { return std::erf(a); }>(t, "erf");
  floats<[](auto a) { return std::erfc(a); }>(t, "erfc");
  floats<[]<class T>(T a) { return static_cast<T>(inverse_erf(a)); }>(t, "erfinv");
  floats<[]<class T>(T a) { return static_cast<T>(inverse_erfc(a)); }>(t, "erfcinv");
  floats<[]<class T>(T a) { return static_cast<T>(scaled_erfc(a)); }>(t, "erfcx");
  floats<[]<class T>(T a) {
    return static_cast<T>(0.5 * std::erfc(-static_cast<double>(a) / std::numbers::sqrt2));
  }>(t, "normcdf");
  floats<[]<class T>(T a) {
    return static_cast<T>(-std::numbers::sqrt2 * inverse_erfc(2.0 * static_cast<double>(a)));
  }>(t, "normcdfinv");
  floats<[]<class T>(T a) { return static_cast<T>(::lgamma(static_cast<double>(a))); }>(t,
                                                                                        "lgamma");
  floats<[](auto a) { return std::tgamma(a); }>(t, "tgamma");
  floats<[]<class T>(T a) { return static_cast<T>(::j0(static_cast<double>(a))); }>(t, "j0");
  floats<[]<class T>(T a) { return static_cast<T>(::j1(static_cast<double>(a))); }>(t, "j1");
  floats<[]<class T>(T a) { return static_cast<T>(::y0(static_cast<double>(a))); }>(t, "y0");
  floats<[]<class T>(T a) { return static_cast<T>(::y1(static_cast<double>(a))); }>(t, "y1");
  floats<[]<class T>(T a) { return static_cast<T>(modified_bessel(0, a)); }>(t, "cyl_bessel_i0");
  floats<[]<class T>(T a) { return static_cast<T>(modified_bessel(1, a)); }>(t, "cyl_bessel_i1");
  floats_after_integer<[](I n, auto x) { return ::jn(n, static_cast<double>(x)); }>(t, "jn");
  floats_after_integer<[](I n, auto x) { return ::yn(n, static_cast<double>(x)); }>(t, "yn");
  floats_with_integer<[](auto a, I b) { return std::ldexp(a, b); }>(t, "ldexp");
  floats_with_integer<[](auto a, I b) { return std::scalbn(a, b); }>(t, "scalbn");
  floats_with_integer<[](auto a, I b) { return std::pow(a, b); }>(t, "powi");
}

void add_binary(Table& t) {
  two_floats<[](auto a, auto b) { return std::atan2(a, b); }>(t, "atan2");
  two_floats<[](auto a, auto b) { return std::copysign(a, b); }>(t, "copysign");
  two_floats<[](auto a, auto b) { return std::fdim(a, b); }>(t, "fdim");
  two_floats<[](auto a, auto b) { return std::fmax(a, b); }>(t, "fmax");
  two_floats<[](auto a, auto b) { return std::fmin(a, b); }>(t, "fmin");
  two_floats<[](auto a, auto b) { return std::fmod(a, b); }>(t, "fmod");
  two_floats<[](auto a, auto b) { return std::hypot(a, b); }>(t, "hypot");
  two_floats<[](auto a, auto b) { return 1 / std::hypot(a, b); }>(t, "rhypot");
  two_floats<[](auto a, auto b) { return std::nextafter(a, b); }>(t, "nextafter");
  two_floats<[](auto a, auto b) { return std::pow(a, b); }>(t, "pow");
  two_floats<[](auto a, auto b) { return std::remainder(a, b); }>(t, "remainder");
  three<float, [](float a, float b, float c) { return std::fma(a, b, c); }>(t, "__nv_fmaf");
  three<double, [](double a, double b, double c) { return std::fma(a, b, c); }>(t, "__nv_fma");
  three<float, [](float a, float b, float c) { return std::hypot(a, b, c); }>(t, "__nv_norm3df");
  three<double, [](double a, double b, double c) { return std::hypot(a, b, c); }>(t, "__nv_norm3d");
  three<float, [](float a, float b, float c) { return 1 / std::hypot(a, b, c); }>(t,
                                                                                  "__nv_rnorm3df");
  three<double, [](double a, double b, double c) { return 1 / std::hypot(a, b, c); }>(
      t, "__nv_rnorm3d");
  three<float, [](float a, float b, float c) { return std::fma(a, b, c); }>(t, "__nv_fmaf_rn");
  three<double, [](double a, double b, double c) { return std::fma(a, b, c); }>(t, "__nv_fma_rn");
  two<float, [](float a, float b) { return a + b; }>(t, "__nv_fadd_rn");
  two<float, [](float a, float b) { return a - b; }>(t, "__nv_fsub_rn");
  two<float, [](float a, float b) { return a * b; }>(t, "__nv_fmul_rn");
  two<float, [](float a, float b) { return a / b; }>(t, "__nv_fdiv_rn");
  two<double, [](double a, double b) { return a + b; }>(t, "__nv_dadd_rn");
  two<double, [](double a, double b) { return a - b; }>(t, "__nv_dsub_rn");
  two<double, [](double a, double b) { return a * b; }>(t, "__nv_dmul_rn");
  two<double, [](double a, double b) { return a / b; }>(t, "__nv_ddiv_rn");
  one<float, [](float a) { return 1 / a; }>(t, "__nv_frcp_rn");
  one<double, [](double a) { return 1 / a; }>(t, "__nv_drcp_rn");
  one<float, [](float a) { return std::sqrt(a); }>(t, "__nv_fsqrt_rn");
  one<double, [](double a) { return std::sqrt(a); }>(t, "__nv_dsqrt_rn");
  one<float, [](float a) { return 1 / std::sqrt(a); }>(t, "__nv_frsqrt_rn");
}

void add_fast(Table& t) {
  one<float, [](float a) { return std::cos(a); }>(t, "__nv_fast_cosf");
  one<float, [](float a) { return std::sin(a); }>(t, "__nv_fast_sinf");
  one<float, [](float a) { return std::tan(a); }>(t, "__nv_fast_tanf");
  one<float, [](float a) { return std::exp(a); }>(t, "__nv_fast_expf");
  one<float, [](float a) { return static_cast<float>(std::pow(10.0, static_cast<double>(a))); }>(
      t, "__nv_fast_exp10f");
  one<float, [](float a) { return std::log(a); }>(t, "__nv_fast_logf");
  one<float, [](float a) { return std::log2(a); }>(t, "__nv_fast_log2f");
  one<float, [](float a) { return std::log10(a); }>(t, "__nv_fast_log10f");
  two<float, [](float a, float b) { return std::pow(a, b); }>(t, "__nv_fast_powf");
  two<float, [](float a, float b) { return a / b; }>(t, "__nv_fast_fdividef");
  one<float, [](float a) { return a >= 0 ? std::min(a, 1.0f) : 0.0f; }>(t, "__nv_saturatef");
}

template <typename T>
void add_tests(Table& t, const std::string& suffix, const std::string& finite) {
  one<T, [](T a) { return std::isnan(a) ? 1 : 0; }, I>(t, "__nv_isnan" + suffix);
  one<T, [](T a) { return std::isinf(a) ? 1 : 0; }, I>(t, "__nv_isinf" + suffix);
  one<T, [](T a) { return std::isfinite(a) ? 1 : 0; }, I>(t, finite);
  one<T, [](T a) { return std::signbit(a) ? 1 : 0; }, I>(t, "__nv_signbit" + suffix);
}

template <typename T, typename Out, auto round>
void add_conversion(Table& t, const std::string& symbol) {
  one<T, [](T a) { return saturate<Out>(round(a)); }, Out>(t, symbol);
}

template <typename T>
void add_conversions(Table& t, const std::string& from) {
  auto with = [&]<auto round>(const std::string& suffix) {
    add_conversion<T, I, round>(t, "__nv_" + from + "2int_" + suffix);
    add_conversion<T, std::uint32_t, round>(t, "__nv_" + from + "2uint_" + suffix);
    add_conversion<T, L, round>(t, "__nv_" + from + "2ll_" + suffix);
    add_conversion<T, std::uint64_t, round>(t, "__nv_" + from + "2ull_" + suffix);
  };
  with.template operator()<[](T a) { return std::nearbyint(a); }>("rn");
  with.template operator()<[](T a) { return std::floor(a); }>("rd");
  with.template operator()<[](T a) { return std::ceil(a); }>("ru");
  with.template operator()<[](T a) { return std::trunc(a); }>("rz");
}

void add_integers(Table& t) {
  one<I, [](I a) { return a < 0 ? static_cast<I>(0u - static_cast<std::uint32_t>(a)) : a; }>(
      t, "__nv_abs");
  one<L, [](L a) { return a < 0 ? static_cast<L>(0u - static_cast<std::uint64_t>(a)) : a; }>(
      t, "__nv_llabs");
  one<std::uint32_t, [](std::uint32_t a) { return std::popcount(a); }, I>(t, "__nv_popc");
  one<std::uint64_t, [](std::uint64_t a) { return std::popcount(a); }, I>(t, "__nv_popcll");
  one<std::uint32_t, [](std::uint32_t a) { return std::countl_zero(a); }, I>(t, "__nv_clz");
  one<std::uint64_t, [](std::uint64_t a) { return std::countl_zero(a); }, I>(t, "__nv_clzll");
  one<std::uint32_t, [](std::uint32_t a) { return a == 0 ? 0 : std::countr_zero(a) + 1; }, I>(
      t, "__nv_ffs");
  one<std::uint64_t, [](std::uint64_t a) { return a == 0 ? 0 : std::countr_zero(a) + 1; }, I>(
      t, "__nv_ffsll");
  one<std::uint32_t, [](std::uint32_t a) { return reverse_bits(a); }>(t, "__nv_brev");
  one<std::uint64_t, [](std::uint64_t a) { return reverse_bits(a); }>(t, "__nv_brevll");
  two<I, [](I a, I b) { return static_cast<I>((L{a} * L{b}) >> 32); }>(t, "__nv_mulhi");
  two<std::uint32_t, [](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
  }>(t, "__nv_umulhi");
  two<L, [](L a, L b) { return static_cast<L>((static_cast<__int128>(a) * b) >> 64); }>(
      t, "__nv_mul64hi");
  two<std::uint64_t, [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
  }>(t, "__nv_umul64hi");
  two<I, [](I a, I b) { return std::min(a, b); }>(t, "__nv_min");
  two<I, [](I a, I b) { return std::max(a, b); }>(t, "__nv_max");
  two<I, [](I a, I b) { return static_cast<I>((L{a} + b) >> 1); }>(t, "__nv_hadd");
  two<I, [](I a, I b) { return static_cast<I>((L{a} + b + 1) >> 1); }>(t, "__nv_rhadd");
  one<float, [](float a) { return std::bit_cast<I>(a); }, I>(t, "__nv_float_as_int");
  one<float, [](float a) { return std::bit_cast<I>(a); }, I>(t, "__nv_float_as_uint");
  one<I, [](I a) { return std::bit_cast<float>(a); }, float>(t, "__nv_int_as_float");
  one<I, [](I a) { return std::bit_cast<float>(a); }, float>(t, "__nv_uint_as_float");
  one<double, [](double a) { return std::bit_cast<L>(a); }, L>(t, "__nv_double_as_longlong");
  one<L, [](L a) { return std::bit_cast<double>(a); }, double>(t, "__nv_longlong_as_double");
  one<I, [](I a) { return static_cast<float>(a); }, float>(t, "__nv_int2float_rn");
  one<std::uint32_t, [](std::uint32_t a) { return static_cast<float>(a); }, float>(
      t, "__nv_uint2float_rn");
  one<L, [](L a) { return static_cast<float>(a); }, float>(t, "__nv_ll2float_rn");
  one<std::uint64_t, [](std::uint64_t a) { return static_cast<float>(a); }, float>(
      t, "__nv_ull2float_rn");
  one<I, [](I a) { return static_cast<double>(a); }, double>(t, "__nv_int2double_rn");
  one<std::uint32_t, [](std::uint32_t a) { return static_cast<double>(a); }, double>(
      t, "__nv_uint2double_rn");
  one<L, [](L a) { return static_cast<double>(a); }, double>(t, "__nv_ll2double_rn");
  one<std::uint64_t, [](std::uint64_t a) { return static_cast<double>(a); }, double>(
      t, "__nv_ull2double_rn");
  one<double, [](double a) { return static_cast<float>(a); }, float>(t, "__nv_double2float_rn");
}

void add_float_to_integer(Table& t) {
  add_conversions<float>(t, "float");
  add_conversions<double>(t, "double");
  add_conversion<float, L, [](float a) { return std::nearbyint(a); }>(t, "__nv_llrintf");
  add_conversion<double, L, [](double a) { return std::nearbyint(a); }>(t, "__nv_llrint");
  add_conversion<float, L, [](float a) { return std::round(a); }>(t, "__nv_llroundf");
  add_conversion<double, L, [](double a) { return std::round(a); }>(t, "__nv_llround");
  one<float, [](float a) { return std::ilogb(a); }, I>(t, "__nv_ilogbf");
  one<double, [](double a) { return std::ilogb(a); }, I>(t, "__nv_ilogb");
}

Table make_table() {
  Table table;
  add_elementary(table);
  add_special(table);
  add_binary(table);
  add_fast(table);
  add_integers(table);
  add_float_to_integer(table);
  add_tests<float>(table, "f", "__nv_finitef");
  add_tests<double>(table, "d", "__nv_isfinited");
  for (auto& [symbol, function] : table) function.symbol = symbol;
  return table;
}

}  // namespace

const LibdeviceFunction* find_libdevice(std::string_view symbol) {
  static const Table table = make_table();
  auto found = table.find(symbol);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace tritonsmith::gym::triton_ir
