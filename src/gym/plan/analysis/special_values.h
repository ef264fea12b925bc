// SpecialValues: finds whether a task's forward tells NaN or infinity from other numbers, and of which
// inputs it tells a zero below 0 from one above. It asks what forward computes, and not how the task
// spells it: x * 0 is no number where x is NaN or infinite, so comparing it asks for both. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// It follows forward step by step, and refers to the task.
class SpecialValues {
 public:
  explicit SpecialValues(const Plan& task);

  void follow(const AtenCall& call);
  // Returns the numbers that inputs should hold: NaN and both infinities, or the infinities alone.
  // Empty if forward treats all of them as it treats other numbers.
  std::vector<double> numbers() const;
  // Returns the inputs of which a result depends on the sign of a zero.
  const std::set<int>& zero_signs() const { return zero_signs_; }

 private:
  // All that is known of a tensor in forward.
  struct Known {
    bool is_by_element = false;    // each element follows from those of inputs at its position
    bool is_zero_of_all = false;   // 0 for each finite element, as in x - x, and else NaN
    std::optional<double> number;  // that each element is
    std::set<int> from;            // the inputs from which it follows in any way
    std::set<int>
        zeros;  // the inputs whose zeros are zeros here; their sign is the same or the opposite
    std::set<int> poles;  // the inputs whose zeros are infinities here, with the zero's sign
  };
  const Known* known(const Value& value) const;
  const Known* known(const AtenCall& call, std::size_t argument) const;
  std::optional<double> number_in(const Value& value) const;
  bool is_real(int tensor) const;
  bool is_near_largest(const AtenCall& call, double number) const;
  void note_comparison(const AtenCall& call);
  void note_clamp(const AtenCall& call);
  void note_zero_signs(const AtenCall& call);
  Known after(const AtenCall& call) const;
  void follow_zeros(const AtenCall& call, Known& made) const;

  const Plan& task_;
  std::map<int, Known> known_;
  std::set<int> zero_signs_;
  bool tells_nan_ = false, clamps_infinities_ = false, is_by_element_ = true;
};

}  // namespace tritonsmith::gym::plan::analysis
