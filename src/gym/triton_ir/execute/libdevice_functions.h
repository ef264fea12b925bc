// Computes functions of libdevice that the C library lacks, and conversions that saturate. Pure.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace tritonsmith::gym::triton_ir {

// Computed in fp64 by Newton's method on std::erfc. They are exact enough for fp32, and to about
// 1e-15 for fp64.
double inverse_erf(double y);
double inverse_erfc(double y);
// Returns exp(x^2) * erfc(x) without overflow for large x.
double scaled_erfc(double x);
// Returns the modified Bessel function I0 or I1, for order 0 or 1. It uses the power series or, for
// large x, the asymptotic one.
double modified_bessel(int order, double x);

template <typename T>
T sin_pi(T x) {
  return static_cast<T>(
      std::sin(3.14159265358979323846 * std::remainder(static_cast<double>(x), 2.0)));
}
template <typename T>
T cos_pi(T x) {
  return static_cast<T>(
      std::cos(3.14159265358979323846 * std::remainder(static_cast<double>(x), 2.0)));
}

template <typename Out, typename T>
Out saturate(T value) {
  if (value != value) return 0;
  if (value <= static_cast<T>(std::numeric_limits<Out>::min()))
    return std::numeric_limits<Out>::min();
  if (value >= static_cast<T>(std::numeric_limits<Out>::max()))
    return std::numeric_limits<Out>::max();
  return static_cast<Out>(value);
}

template <typename T>
T reverse_bits(T value) {
  T reversed = 0;
  for (int i = 0; i < std::numeric_limits<T>::digits; ++i, value >>= 1)
    reversed = (reversed << 1) | (value & 1);
  return reversed;
}

}  // namespace tritonsmith::gym::triton_ir
