// ToleranceRules: all constants by which results are compared. It has the tolerance of each
// precision, the budget around the exact result, and the factors that extend a tolerance. Code for
// the CPU calls these functions. cuda/judging_source.cc writes the same constants into the judge's
// device kernels. docs/numerics.md explains the numbers. This header needs no LibTorch. Any thread
// may call it.
#pragma once

#include <algorithm>
#include <optional>

namespace tritonsmith::gym::compare {

// The precision of a dtype. Each value is coarser than the one before it. A complex dtype has the
// precision of its parts. Integers and booleans are `exact`: they must be equal.
enum class Precision { exact, bits_64, bits_32, bits_16, bits_8 };

// Says whether one rounding to this precision costs about as much as the tolerance allows. PyTorch
// rounds after each of its operators.
constexpr bool is_coarse(Precision precision) { return precision >= Precision::bits_16; }

// The tolerance extension for outputs that PyTorch itself computes coarsely. A candidate passes if
// its largest error is at most `worst` times PyTorch's largest, and the root mean square of its
// errors at most `average` times PyTorch's. No error may exceed `most` tolerances.
struct ExtensionRules {
  double worst = 0, average = 0, most = 0;
};

struct ToleranceRules {
  // Each number is the absolute and the relative tolerance. Those of 16 and 32 bits are
  // KernelBench's, the others are ours. The tolerance of 64 bits finds any value that was rounded
  // to float32.
  double of_64_bits = 1e-9, of_32_bits = 1e-4, of_16_bits = 1e-2, of_8_bits = 1e-1;

  // The budget is the distance that a candidate may have from the exact result (budget_slack).
  // `budget_floor` is added to the output's size, and `own_error_factor` multiplies PyTorch's own
  // error.
  double budget_floor = 0.005;
  double own_error_factor = 32;

  // The budget applies if PyTorch's own error is at most this share of tolerance * rms(exact). In
  // 16 bits the share is larger, because rounding the output alone costs more than a tenth.
  double usable_share = 0.1, usable_share_where_coarse = 2;

  // A perturbed trial counts only if PyTorch's own error is at most this share of the tolerance.
  double precise_share = 0.4;

  // In 16 bits PyTorch rounds after each operator, and one kernel that computes all of them need
  // not. So there a candidate must be at least as exact as PyTorch, at worst and on average.
  ExtensionRules extension_32_bits = {.worst = 16, .average = 8, .most = 100};
  ExtensionRules extension_16_bits = {.worst = 1, .average = 1, .most = 10};
  // A reference whose own error is at least this large is noise, and extends no tolerance.
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

  // Returns the part of the budget that is the same for all elements. Each element adds tolerance *
  // |exact|. `rms` is the root mean square of the exact values, `own_error` the largest |reference
  // - exact|. `final_scale` multiplies the floor (plan/analysis/final_scale.h).
  constexpr double budget_slack(double tolerance, double rms, double own_error,
                                double final_scale = 1) const {
    return tolerance * (rms + final_scale * budget_floor) + own_error_factor * own_error;
  }
};

inline constexpr ToleranceRules kToleranceRules;

// A tolerance and the precision from which it follows. A task may tighten the value, and a trial
// may widen it. The rules depend on the precision, which stays.
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
