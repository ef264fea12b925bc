// All numbers by which results are compared: the tolerance of each precision, the budget around the
// exact result, and the factors that extend a tolerance. The code for the CPU calls these functions;
// the CUDA source of the judge's kernels is made from the same constants (cuda/judging_source.cc).
// docs/numerics.md explains the numbers. This header needs no LibTorch. Any thread.
#pragma once

#include <algorithm>
#include <optional>

namespace tritonsmith::gym::compare {

// The precision of a dtype; each is coarser than the one before it. A complex number has the
// precision of its parts. Integers and booleans are compared exactly.
enum class Precision { exact, bits_64, bits_32, bits_16, bits_8 };

// PyTorch rounds to these precisions between its operators, which costs about as much as the
// tolerance allows.
constexpr bool is_coarse(Precision precision) { return precision >= Precision::bits_16; }

// How far a candidate may be from PyTorch, in PyTorch's own errors, if it is about as exact as
// PyTorch. `most` limits that, in units of the tolerance.
struct ExtensionRules {
  double worst = 0, average = 0, most = 0;
};

struct ToleranceRules {
  // Absolute and relative alike. KernelBench has those of 16 and 32 bits; the others are ours. A
  // value that was float32 on its way is outside the tolerance of 64 bits.
  double of_64_bits = 1e-9, of_32_bits = 1e-4, of_16_bits = 1e-2, of_8_bits = 1e-1;

  // The budget: how far a candidate may be from the exact result. The floor counts beside the
  // output's size, and the factor multiplies PyTorch's own error.
  double budget_floor = 0.005;
  double own_error_factor = 32;

  // The budget applies where PyTorch's own error is at most this share of tolerance * rms(exact).
  // In 16 bits rounding the output costs more than a tenth of that already.
  double usable_share = 0.1, usable_share_where_coarse = 2;

  // Up to this share of its tolerance, PyTorch's own rounding leaves room for a decision.
  double precise_share = 0.4;

  // In 16 bits PyTorch rounds between operators what one kernel need not round. So a candidate must
  // there be no less exact than PyTorch, at worst and on average.
  ExtensionRules extension_32_bits = {.worst = 8, .average = 5, .most = 100};
  ExtensionRules extension_16_bits = {.worst = 1, .average = 1, .most = 10};
  // No tolerance extension follows from a reference whose own error is not below this.
  double noise = 0.5;

  constexpr double tolerance_of(Precision precision) const {
    switch (precision) {
      case Precision::exact:
        return 0;
      case Precision::bits_64:
        return of_64_bits;
      case Precision::bits_32:
        return of_32_bits;
      case Precision::bits_16:
        return of_16_bits;
      case Precision::bits_8:
        return of_8_bits;
    }
    return 0;
  }

  constexpr double usable_share_of(Precision precision) const {
    return is_coarse(precision) ? usable_share_where_coarse : usable_share;
  }

  // The part of the budget that all elements share; each adds tolerance * |exact|. `rms` is the root
  // mean square of the exact values, `own_error` the largest |reference - exact|.
  constexpr double budget_slack(double tolerance, double rms, double own_error) const {
    return tolerance * (rms + budget_floor) + own_error_factor * own_error;
  }
};

inline constexpr ToleranceRules kToleranceRules;

// A tolerance and where it comes from. The rules follow the precision and not the value, which a
// task may tighten and a trial may widen.
struct Tolerance {
  double value = 0;
  Precision widest = Precision::exact;  // the coarsest of the task's floating types
};

constexpr Tolerance tolerance_of(Precision precision) {
  return {.value = kToleranceRules.tolerance_of(precision), .widest = precision};
}

constexpr Tolerance wider_of(Tolerance one, Tolerance other) {
  return one.widest < other.widest ? other : one;
}

// A task's own tolerance lowers the value and never raises it.
constexpr Tolerance tightened(Tolerance tolerance, std::optional<double> wanted) {
  return {.value = wanted ? std::min(tolerance.value, *wanted) : tolerance.value,
          .widest = tolerance.widest};
}

}  // namespace tritonsmith::gym::compare
