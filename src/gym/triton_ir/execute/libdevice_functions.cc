#include "gym/triton_ir/execute/libdevice_functions.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// Solves erfc(x) = y for 0 < y <= 1 (x >= 0), by Newton's method with Halley's correction.
double solve_erfc(double y) {
  double x = y > 0.5 ? (1 - y) / kTwoOverSqrtPi
                     : std::sqrt(-std::log(y * std::sqrt(std::max(1.0, -std::log(y)))));
  for (int i = 0; i < 12; ++i) {
    const double slope = -kTwoOverSqrtPi * std::exp(-x * x);
    const double step = (std::erfc(x) - y) / slope;
    const double next = x - step / (1 + x * step);
    if (!(std::fabs(next - x) > 1e-17 * std::fabs(x))) return next;
    x = next;
  }
  return x;
}

}  // namespace

double inverse_erfc(double y) {
  if (!(y >= 0 && y <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (y == 0) return std::numeric_limits<double>::infinity();
  if (y == 2) return -std::numeric_limits<double>::infinity();
  return y <= 1 ? solve_erfc(y) : -solve_erfc(2 - y);
}

double inverse_erf(double y) {
  if (std::fabs(y) < 1e-8) return y / kTwoOverSqrtPi;
  if (std::fabs(y) > 0.5) return y > 0 ? inverse_erfc(1 - y) : -inverse_erfc(1 + y);
  double x = y / kTwoOverSqrtPi;
  for (int i = 0; i < 12; ++i) {
    const double step = (std::erf(x) - y) / (kTwoOverSqrtPi * std::exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}

double scaled_erfc(double x) {
  if (x < 20) return std::exp(x * x) * std::erfc(x);
  const double inverse = 1 / (x * x);
  return kTwoOverSqrtPi / 2 / x * (1 - inverse * (0.5 - inverse * (0.75 - 1.875 * inverse)));
}

double modified_bessel(int order, double x) {
  const double size = std::fabs(x), quarter = size * size / 4;
  double sum = 0;
  if (size < 30) {
    double term = order == 0 ? 1 : size / 2;
    for (int k = 1; k < 200 && term > 1e-18 * sum; ++k) {
      sum += term;
      term *= quarter / (k * (k + order));
    }
  } else {
    double term = 1;
    for (int k = 1; k < 20; ++k) {
      sum += term;
      const double odd = 2.0 * k - 1;
      term *= (odd * odd - 4.0 * order * order) / (8.0 * k * size);
    }
    sum *= std::exp(size) / std::sqrt(2 * 3.14159265358979323846 * size);
  }
  return order == 1 && x < 0 ? -sum : sum;
}

}  // namespace tritonsmith::gym::triton_ir
