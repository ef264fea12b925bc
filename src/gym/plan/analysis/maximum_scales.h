// MaximumScales: finds where forward divides an input by a share of its own largest size and rounds
// the quotient, as a quantisation to 8 bits does: round(x / (max|x| / 127)). If the largest size is
// that number, here 127, the scale is 1 in every order of operations. A half is then a tie. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

struct MaximumScale {
  int input = 0;
  double number = 0;                // the largest size at which the scale is 1
  std::vector<std::int64_t> shape;  // the shape in which forward looks for the largest sizes
  std::int64_t dim = -1;            // the dimension along which it does
  friend bool operator==(const MaximumScale&, const MaximumScale&) = default;
};

class MaximumScales {
 public:
  explicit MaximumScales(const Plan& task);
  // Says whether the call rounds a quotient as above.
  bool is_rounded_by(const AtenCall& call) const;
  // Takes notice of a call of forward. The calls must come in their order.
  void follow(const AtenCall& call);
  // Returns the scales of the calls so far, one for each input.
  const std::vector<MaximumScale>& found() const { return found_; }

 private:
  // elements: an input's; sizes: their sizes; maxima: the largest of those; scale: maxima divided by
  // the number; inverse: 1 / maxima, or the number / maxima; quotient: elements divided by the scale.
  enum class Kind { elements, sizes, maxima, scale, inverse, quotient };
  struct Known {
    Kind kind = Kind::elements;
    MaximumScale of;
  };
  const Known* known(const AtenCall& call, std::size_t argument) const;
  std::optional<Known> after(const AtenCall& call) const;
  std::optional<Known> after_number(const Known& first, bool divides, double number) const;
  std::optional<Known> after_maximum(const AtenCall& call, const Known& sizes) const;

  const Plan& task_;
  std::map<int, Known> known_;
  std::vector<MaximumScale> found_;
};

}  // namespace tritonsmith::gym::plan::analysis
