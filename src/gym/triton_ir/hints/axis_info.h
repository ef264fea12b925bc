// AxisInfo: what a compiler knows of the numbers or pointers in a value without their values: by
// dimension, how many of them count up by one, by what the first of these is divisible, and how many
// are equal. It follows Triton's own analysis (lib/Analysis/AxisInfo.cpp), because a GPU's compiler
// decides by that one how many elements an access takes at once. Pure data.
#pragma once

#include <optional>
#include <vector>

#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

struct AxisInfo {
  // By dimension; a scalar has one. Groups begin at multiples of their length.
  std::vector<std::int64_t> contiguity;  // elements of a group that counts up by one
  std::vector<std::int64_t>
      divisibility;  // a divisor of each group's first element, in bytes for pointers
  std::vector<std::int64_t> constancy;   // elements of a group of equal ones
  std::optional<std::int64_t> constant;  // the value of all elements, if it is known

  std::size_t rank() const { return contiguity.size(); }  // 0: nothing is known yet
  bool operator==(const AxisInfo&) const = default;
};

// Larger numbers stand for "any".
inline constexpr std::int64_t kAnyDivisor = std::int64_t{1} << 62;

// Returns the largest power of two that divides the number.
std::int64_t power_of_two_in(std::int64_t number);
// Returns the greatest common divisor, where 0 is divisible by everything.
std::int64_t common_divisor(std::int64_t a, std::int64_t b);
// Returns what holds of a value that may come from either side.
AxisInfo join(const AxisInfo& left, const AxisInfo& right);
// Returns the divisibility of one dimension of such a value.
std::int64_t joint_divisibility(const AxisInfo& left, const AxisInfo& right, std::size_t dimension);
// Returns what holds of every value with this number of dimensions.
AxisInfo unknown_axes(std::size_t rank);

// Says whether tl.max_contiguous, tl.multiple_of or tl.max_constancy gave the operation an attribute.
bool has_hints(const Operation& operation);
// Puts the operation's hints in place of what was known.
void apply_hints(const Operation& operation, AxisInfo& info);

}  // namespace tritonsmith::gym::triton_ir
