#include "gym/triton_ir/execute/result_grid.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tritonsmith::gym::triton_ir {
namespace {

// A well mixed function of its argument: the finalizer of splitmix64.
constexpr std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

template <typename T, typename Bits>
void round_all(const language::ResultRounding& by, T* values, std::size_t count) {
  constexpr int significant = 12;
  constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  constexpr Bits rest = (Bits{1} << (std::numeric_limits<T>::digits - significant)) - 1;
  constexpr T whole = 1 << 20;
  const T least = 128 * std::numeric_limits<T>::min();
  const Bits width = by.width;
  const std::uint64_t salt = mixed(by.round + 1);
  const Bits first = static_cast<Bits>(salt) & (width - 1);
  for (std::size_t k = 0; k < count; ++k) {
    const T value = values[k], size = std::fabs(value);
    const Bits bits = std::bit_cast<Bits>(size);
    if (!(size >= least && size <= std::numeric_limits<T>::max()) || (bits & rest) == 0 ||
        (size < whole && size == std::floor(size)))
      continue;
    const Bits cell = (bits + first) / width;
    const Bits point = cell * width - first + (static_cast<Bits>(mixed(cell ^ salt)) & (width - 1));
    const T moved = std::bit_cast<T>(point);
    if (moved <= std::numeric_limits<T>::max())
      values[k] = std::bit_cast<T>(static_cast<Bits>(point | (std::bit_cast<Bits>(value) & sign)));
  }
}

}  // namespace

void round_to_grid(const language::ResultRounding& by, float* values, std::size_t count) {
  round_all<float, std::uint32_t>(by, values, count);
}

void round_to_grid(const language::ResultRounding& by, double* values, std::size_t count) {
  round_all<double, std::uint64_t>(by, values, count);
}

}  // namespace tritonsmith::gym::triton_ir
