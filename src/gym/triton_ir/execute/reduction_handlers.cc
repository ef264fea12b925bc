// Reductions and scans along one axis of [outer, axis, inner]. A reduction halves the axis until
// one element is left, so that sums are as exact as a tree's and the loops vectorise.
#include <algorithm>
#include <cstring>
#include <memory>

#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/machine.h"
#include "gym/triton_ir/execute/number_formats.h"

namespace tritonsmith::gym::triton_ir {
namespace {

template <typename T>
T wrap(std::uint64_t value) {
  return static_cast<T>(value);
}

// The combine operations.
struct Add {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return wrap<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};
struct Multiply {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return wrap<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return a * b;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    return a > b || b != b ? a : b;
  }
};
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    return a < b || b != b ? a : b;
  }
};
struct PropagatingMax {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? a : (b != b ? b : (a > b ? a : b));
  }
};
struct PropagatingMin {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? a : (b != b ? b : (a < b ? a : b));
  }
};
struct UnsignedMax {
  template <typename T>
  static T apply(T a, T b) {
    return std::make_unsigned_t<T>(a) > std::make_unsigned_t<T>(b) ? a : b;
  }
};
struct UnsignedMin {
  template <typename T>
  static T apply(T a, T b) {
    return std::make_unsigned_t<T>(a) < std::make_unsigned_t<T>(b) ? a : b;
  }
};
struct And {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <typename T>
void round_all(T* values, std::int64_t count, Element element) {
  if constexpr (std::is_same_v<T, float>) {
    if (element == Element::f16)
      for (std::int64_t k = 0; k < count; ++k) values[k] = round_to_f16(values[k]);
    else if (element == Element::bf16)
      for (std::int64_t k = 0; k < count; ++k) values[k] = round_to_bf16(values[k]);
    else if (is_small_float(element))
      for (std::int64_t k = 0; k < count; ++k)
        values[k] = round_to(element, values[k], Rounding::nearest_even);
  }
}

template <typename T, typename Combine>
void reduce(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const std::int64_t outer = table[0], axis = table[1], inner = table[2];
  const auto element = static_cast<Element>(table[3]);
  const T* in = machine.input<T>(instruction, 0);
  T* out = machine.output<T>(instruction);
  if (axis == 1) {
    std::copy_n(in, instruction.count, out);
    return;
  }
  const std::int64_t half = axis / 2 * inner;
  thread_local std::vector<T> scratch;
  if (std::ssize(scratch) < half) scratch.resize(static_cast<std::size_t>(half));
  T* __restrict work = scratch.data();
  for (std::int64_t o = 0; o < outer; ++o, in += axis * inner, out += inner) {
    for (std::int64_t k = 0; k < half; ++k) work[k] = Combine::apply(in[k], in[half + k]);
    round_all(work, half, element);
    for (std::int64_t left = half / 2; left >= inner; left /= 2) {
      const T* upper = work + left;
      for (std::int64_t k = 0; k < left; ++k) work[k] = Combine::apply(work[k], upper[k]);
      round_all(work, left, element);
    }
    std::copy_n(work, inner, out);
  }
}

template <typename T, typename Combine>
void scan(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const std::int64_t outer = table[0], axis = table[1], inner = table[2];
  const auto element = static_cast<Element>(table[3]);
  const bool reverse = table[4] != 0;
  const std::int64_t step = reverse ? -inner : inner;
  for (std::int64_t o = 0; o < outer; ++o) {
    const std::int64_t first = o * axis * inner + (reverse ? (axis - 1) * inner : 0);
    const T* in = machine.input<T>(instruction, 0) + first;
    T* out = machine.output<T>(instruction) + first;
    std::copy_n(in, inner, out);
    for (std::int64_t a = 1; a < axis; ++a) {
      const T* before = out;
      in += step;
      out += step;
      for (std::int64_t k = 0; k < inner; ++k) out[k] = Combine::apply(before[k], in[k]);
      round_all(out, inner, element);
    }
  }
}

template <typename T>
void shift(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const std::int64_t outer = table[0], row = table[1] * table[2], by = table[3] * table[2];
  const bool reverse = table[4] != 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    const T* in = machine.input<T>(instruction, 0) + o * row;
    T* out = machine.output<T>(instruction) + o * row;
    std::copy_n(in, row, out);
    if (reverse)
      std::copy_n(in + by, row - by, out);
    else
      std::copy_n(in, row - by, out + by);
  }
}

template <typename T>
void keep_edge(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const std::int64_t outer = table[0], row = table[1] * table[2], by = table[3] * table[2];
  const std::int64_t edge = table[4] != 0 ? row - by : 0;
  for (std::int64_t o = 0; o < outer; ++o)
    std::copy_n(machine.input<T>(instruction, 0) + o * row + edge, by,
                machine.output<T>(instruction) + o * row + edge);
}

template <template <typename, typename> class Of, typename Combine>
Handler for_integers(Element element) {
  switch (element) {
    case Element::i8:
      return Of<std::int8_t, Combine>::handler;
    case Element::i16:
      return Of<std::int16_t, Combine>::handler;
    case Element::i32:
      return Of<std::int32_t, Combine>::handler;
    case Element::i64:
      return Of<std::int64_t, Combine>::handler;
    default:
      return nullptr;
  }
}

template <template <typename, typename> class Of, typename Combine>
Handler for_floats(Element element) {
  if (element == Element::f64) return Of<double, Combine>::handler;
  return is_float(element) ? Of<float, Combine>::handler : nullptr;
}

template <template <typename, typename> class Of, typename Combine>
Handler for_bits(Element element) {
  return element == Element::i1 ? Of<std::uint8_t, Combine>::handler
                                : for_integers<Of, Combine>(element);
}

template <template <typename, typename> class Of>
Handler find(std::string_view combine, Element element) {
  if (combine == "arith.addf") return for_floats<Of, Add>(element);
  if (combine == "arith.mulf") return for_floats<Of, Multiply>(element);
  if (combine == "arith.maxnumf") return for_floats<Of, Max>(element);
  if (combine == "arith.minnumf") return for_floats<Of, Min>(element);
  if (combine == "arith.maximumf") return for_floats<Of, PropagatingMax>(element);
  if (combine == "arith.minimumf") return for_floats<Of, PropagatingMin>(element);
  if (combine == "arith.addi") return for_integers<Of, Add>(element);
  if (combine == "arith.muli") return for_integers<Of, Multiply>(element);
  if (combine == "arith.maxsi") return for_integers<Of, Max>(element);
  if (combine == "arith.minsi") return for_integers<Of, Min>(element);
  if (combine == "arith.maxui") return for_integers<Of, UnsignedMax>(element);
  if (combine == "arith.minui") return for_integers<Of, UnsignedMin>(element);
  if (combine == "arith.andi") return for_bits<Of, And>(element);
  if (combine == "arith.ori") return for_bits<Of, Or>(element);
  if (combine == "arith.xori") return for_bits<Of, Xor>(element);
  return nullptr;
}

template <typename T, typename Combine>
struct Reduction {
  static constexpr Handler handler = reduce<T, Combine>;
};
template <typename T, typename Combine>
struct Scan {
  static constexpr Handler handler = scan<T, Combine>;
};

}  // namespace

Handler reduction_handler(std::string_view combine, Element element) {
  return find<Reduction>(combine, element);
}
Handler scan_handler(std::string_view combine, Element element) {
  return find<Scan>(combine, element);
}

Handler shift_handler(std::size_t bytes) {
  return by_bytes(bytes, shift<std::uint8_t>, shift<std::uint16_t>, shift<std::uint32_t>,
                  shift<std::uint64_t>);
}

Handler keep_edge_handler(std::size_t bytes) {
  return by_bytes(bytes, keep_edge<std::uint8_t>, keep_edge<std::uint16_t>,
                  keep_edge<std::uint32_t>, keep_edge<std::uint64_t>);
}

}  // namespace tritonsmith::gym::triton_ir
