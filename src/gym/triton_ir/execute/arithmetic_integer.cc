#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "gym/triton_ir/execute/elementwise.h"
#include "gym/triton_ir/execute/loops.h"

namespace tritonsmith::gym::triton_ir {
namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

// Unsigned arithmetic wraps. Narrow types must not be promoted to a signed int that overflows.
template <typename T>
constexpr std::uint64_t wide(T value) {
  return static_cast<std::uint64_t>(value);
}

// Division never traps. Division by zero gives all ones, as a GPU does for unsigned numbers. The
// lowest number divided by -1 wraps.
template <typename T>
T divide(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (b == -1) return static_cast<T>(0 - wide(a));
  return static_cast<T>(a / b);
}
template <typename T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  return static_cast<T>(a % b);
}
template <typename T>
T divide_unsigned(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  return static_cast<T>(static_cast<Unsigned<T>>(a) / static_cast<Unsigned<T>>(b));
}
template <typename T>
T remainder_unsigned(T a, T b) {
  if (b == 0) return a;
  return static_cast<T>(static_cast<Unsigned<T>>(a) % static_cast<Unsigned<T>>(b));
}
template <typename T>
T floor_divide(T a, T b) {
  T quotient = divide(a, b);
  return b != 0 && remainder(a, b) != 0 && ((a < 0) != (b < 0)) ? static_cast<T>(quotient - 1)
                                                                : quotient;
}
template <typename T>
T ceil_divide(T a, T b) {
  T quotient = divide(a, b);
  return b != 0 && remainder(a, b) != 0 && ((a < 0) == (b < 0)) ? static_cast<T>(quotient + 1)
                                                                : quotient;
}
template <typename T>
T ceil_divide_unsigned(T a, T b) {
  T quotient = divide_unsigned(a, b);
  return b != 0 && remainder_unsigned(a, b) != 0 ? static_cast<T>(quotient + 1) : quotient;
}

// A shift by the width or more gives zeros or copies of the sign, as on a GPU.
template <typename T>
T shift_left(T a, T b) {
  constexpr int width = std::numeric_limits<Unsigned<T>>::digits;
  auto by = static_cast<Unsigned<T>>(b);
  return by >= width ? T{0} : static_cast<T>(wide(a) << by);
}
template <typename T>
T shift_right_signed(T a, T b) {
  constexpr int width = std::numeric_limits<Unsigned<T>>::digits;
  auto by = static_cast<Unsigned<T>>(b);
  return static_cast<T>(a >> (by >= width ? width - 1 : static_cast<int>(by)));
}
template <typename T>
T shift_right_unsigned(T a, T b) {
  constexpr int width = std::numeric_limits<Unsigned<T>>::digits;
  auto by = static_cast<Unsigned<T>>(b);
  return by >= width ? T{0} : static_cast<T>(static_cast<Unsigned<T>>(a) >> by);
}

template <typename T>
T multiply_high_unsigned(T a, T b) {
  using Wide = std::conditional_t<sizeof(T) == 8, unsigned __int128, std::uint64_t>;
  constexpr int width = std::numeric_limits<Unsigned<T>>::digits;
  return static_cast<T>(
      (static_cast<Wide>(static_cast<Unsigned<T>>(a)) * static_cast<Unsigned<T>>(b)) >> width);
}

template <auto function>
constexpr HandlerRow two_of_any_integer(Handler i1 = nullptr) {
  return {.i1 = i1,
          .i8 = binary<std::int8_t, function>,
          .i16 = binary<std::int16_t, function>,
          .i32 = binary<std::int32_t, function>,
          .i64 = binary<std::int64_t, function>};
}
template <auto function>
constexpr HandlerRow one_of_any_integer() {
  return {.i8 = unary<std::int8_t, function>,
          .i16 = unary<std::int16_t, function>,
          .i32 = unary<std::int32_t, function>,
          .i64 = unary<std::int64_t, function>};
}

// i1 registers hold 0 or 1. As a signed number, true is -1.
using Bit = std::uint8_t;
constexpr Handler kXor = binary<Bit, [](Bit a, Bit b) { return a ^ b; }>;
constexpr Handler kAnd = binary<Bit, [](Bit a, Bit b) { return a & b; }>;
constexpr Handler kOr = binary<Bit, [](Bit a, Bit b) { return a | b; }>;

constexpr ElementwiseOperation kIntegerOperations[] = {
    {"arith.addi", 2,
     two_of_any_integer<[]<class T>(T a, T b) { return static_cast<T>(wide(a) + wide(b)); }>(kXor)},
    {"arith.subi", 2,
     two_of_any_integer<[]<class T>(T a, T b) { return static_cast<T>(wide(a) - wide(b)); }>(kXor)},
    {"arith.muli", 2,
     two_of_any_integer<[]<class T>(T a, T b) { return static_cast<T>(wide(a) * wide(b)); }>(kAnd)},
    {"arith.divsi", 2, two_of_any_integer<[](auto a, auto b) { return divide(a, b); }>()},
    {"arith.divui", 2, two_of_any_integer<[](auto a, auto b) { return divide_unsigned(a, b); }>()},
    {"arith.remsi", 2, two_of_any_integer<[](auto a, auto b) { return remainder(a, b); }>()},
    {"arith.remui", 2,
     two_of_any_integer<[](auto a, auto b) { return remainder_unsigned(a, b); }>()},
    {"arith.floordivsi", 2,
     two_of_any_integer<[](auto a, auto b) { return floor_divide(a, b); }>()},
    {"arith.ceildivsi", 2, two_of_any_integer<[](auto a, auto b) { return ceil_divide(a, b); }>()},
    {"arith.ceildivui", 2,
     two_of_any_integer<[](auto a, auto b) { return ceil_divide_unsigned(a, b); }>()},
    {"arith.andi", 2, two_of_any_integer<[](auto a, auto b) { return a & b; }>(kAnd)},
    {"arith.ori", 2, two_of_any_integer<[](auto a, auto b) { return a | b; }>(kOr)},
    {"arith.xori", 2, two_of_any_integer<[](auto a, auto b) { return a ^ b; }>(kXor)},
    {"arith.shli", 2, two_of_any_integer<[](auto a, auto b) { return shift_left(a, b); }>()},
    {"arith.shrsi", 2,
     two_of_any_integer<[](auto a, auto b) { return shift_right_signed(a, b); }>()},
    {"arith.shrui", 2,
     two_of_any_integer<[](auto a, auto b) { return shift_right_unsigned(a, b); }>()},
    {"arith.maxsi", 2, two_of_any_integer<[](auto a, auto b) { return (a > b) ? a : b; }>(kAnd)},
    {"arith.minsi", 2, two_of_any_integer<[](auto a, auto b) { return (a < b) ? a : b; }>(kOr)},
    {"arith.maxui", 2, two_of_any_integer<[]<class T>(T a, T b) {
       return (Unsigned<T>(a) > Unsigned<T>(b)) ? a : b;
     }>(kOr)},
    {"arith.minui", 2, two_of_any_integer<[]<class T>(T a, T b) {
       return (Unsigned<T>(a) < Unsigned<T>(b)) ? a : b;
     }>(kAnd)},
    {"tt.mulhiui", 2,
     two_of_any_integer<[](auto a, auto b) { return multiply_high_unsigned(a, b); }>()},
    {"math.absi", 1,
     one_of_any_integer<[]<class T>(T a) { return a < 0 ? static_cast<T>(0 - wide(a)) : a; }>()},
    {"math.ctpop", 1,
     one_of_any_integer<[]<class T>(T a) { return std::popcount(Unsigned<T>(a)); }>()},
    {"math.ctlz", 1,
     one_of_any_integer<[]<class T>(T a) { return std::countl_zero(Unsigned<T>(a)); }>()},
    {"math.cttz", 1,
     one_of_any_integer<[]<class T>(T a) { return std::countr_zero(Unsigned<T>(a)); }>()},
};

// A predicate with its handlers for signed numbers, unsigned numbers and bits.
struct IntegerComparison {
  std::string_view predicate;
  HandlerRow handlers;
};

template <auto function>
constexpr HandlerRow compare_signed(Handler i1) {
  return {.i1 = i1,
          .i8 = binary<std::int8_t, function, Bit>,
          .i16 = binary<std::int16_t, function, Bit>,
          .i32 = binary<std::int32_t, function, Bit>,
          .i64 = binary<std::int64_t, function, Bit>};
}
template <auto function>
constexpr HandlerRow compare_unsigned() {
  return {.i1 = binary<Bit, function, Bit>,
          .i8 = binary<std::uint8_t, function, Bit>,
          .i16 = binary<std::uint16_t, function, Bit>,
          .i32 = binary<std::uint32_t, function, Bit>,
          .i64 = binary<std::uint64_t, function, Bit>};
}

constexpr auto kLess = [](auto a, auto b) { return a < b; };
constexpr auto kLessEqual = [](auto a, auto b) { return a <= b; };
constexpr auto kGreater = [](auto a, auto b) { return a > b; };
constexpr auto kGreaterEqual = [](auto a, auto b) { return a >= b; };

constexpr IntegerComparison kIntegerComparisons[] = {
    {"eq", compare_unsigned<[](auto a, auto b) { return a == b; }>()},
    {"ne", compare_unsigned<[](auto a, auto b) { return a != b; }>()},
    {"slt", compare_signed<kLess>(binary<Bit, kGreater, Bit>)},
    {"sle", compare_signed<kLessEqual>(binary<Bit, kGreaterEqual, Bit>)},
    {"sgt", compare_signed<kGreater>(binary<Bit, kLess, Bit>)},
    {"sge", compare_signed<kGreaterEqual>(binary<Bit, kLessEqual, Bit>)},
    {"ult", compare_unsigned<kLess>()},
    {"ule", compare_unsigned<kLessEqual>()},
    {"ugt", compare_unsigned<kGreater>()},
    {"uge", compare_unsigned<kGreaterEqual>()},
};

}  // namespace

std::span<const ElementwiseOperation> integer_operations() { return kIntegerOperations; }

Handler find_integer_comparison(std::string_view predicate, Element element) {
  for (const IntegerComparison& comparison : kIntegerComparisons)
    if (comparison.predicate == predicate) return comparison.handlers.pick(element);
  return nullptr;
}

}  // namespace tritonsmith::gym::triton_ir
