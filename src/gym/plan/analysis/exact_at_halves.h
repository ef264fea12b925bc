// ExactAtHalves: the tensors of a forward whose elements are exact, in every order of operations, if the
// inputs' elements are halves, or halves divided by a power of two. So an honest kernel meets a tie
// among them exactly as the reference does. It also finds the inputs that make an element a number
// with which forward compares it. It assumes that inputs are at most 64 and have few digits. Pure.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Returns the power of two by which the call multiplies a tensor, or nothing. Of another whole
// factor it returns the power of two in it: halves of its inverse become halves, without rounding.
std::optional<double> exact_scale(const AtenCall& call);

// Returns the number that the value is, or nothing.
std::optional<double> number_of(const Value& value);

// Says whether the number is a multiple of 1/16 and at most 64.
bool has_few_digits(double number);

class ExactAtHalves {
 public:
  explicit ExactAtHalves(const Plan& task);

  // Returns the power of two with which an input's elements are multiplied on the way to the value's,
  // or nothing if the value's elements may be inexact.
  std::optional<double> scale_of(const Value& value) const;
  // Says whether the value's elements are an input's, but for their order and a power of two.
  bool is_as_given(const Value& value) const;
  // Says whether the value's elements are an input's divided by a whole number whose inverse is so
  // near to a float32 that a product with it makes the same ties.
  bool is_quotient(const Value& value) const;
  // Returns the elements of an input at which the call's first argument equals a number among its
  // other arguments.
  std::vector<double> meeting_numbers(const AtenCall& call) const;
  // Takes notice of a call of forward. The calls must come in their order.
  void follow(const AtenCall& call);

 private:
  // If is_line is true, an element is factor * x + offset for an element x of one input, or with
  // either_sign for x or -x. Otherwise it follows from inputs in another exact way.
  struct Known {
    double scale = 1;
    double factor = 1, offset = 0;
    double largest = 64, unit = 1.0 / 16;  // elements are multiples of the unit
    bool either_sign = false, is_line = true, is_as_given = true;
  };
  const Known* known(const Value& value) const;
  // Return what holds of the call's result, whose digits may be too many.
  std::optional<Known> after(const AtenCall& call) const;
  static Known scaled(const Known& before, double by, double scale);
  std::optional<Known> after_numbers(const AtenCall& call, const Known& before) const;
  std::optional<Known> after_tensors(const AtenCall& call) const;
  std::optional<double> divisor_after(const AtenCall& call) const;

  const Plan& task_;
  std::map<int, Known> known_;
  std::map<int, double> divisors_;  // of quotients, by tensor
};

}  // namespace tritonsmith::gym::plan::analysis
