// Decides which inputs of a task get rows of truth values, or of numbers that the task turns into truth
// values, and which values these are.
#pragma once

#include <vector>

#include "base/rng.h"
#include "gym/device/device.h"
#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/analysis/input_draws.h"
#include "gym/trial/perturb/perturbation.h"

namespace tritonsmith::gym::trial {

// Knows what a task asks of its inputs. It refers to the arguments of its constructor.
class TruthQuestions {
 public:
  // `direct` are the inputs that a generator drew directly, and `draws` the draws of the others.
  TruthQuestions(const plan::Plan& task, const plan::analysis::ForwardFacts& facts,
                 const std::vector<int>& direct,
                 const std::vector<plan::analysis::InputDraw>& draws)
      : task_(task), facts_(facts), direct_(direct), draws_(draws) {}

  // Tells whether the kind makes such rows of this input.
  bool asks(Perturbation kind, int input) const;
  // If forward compares two of the inputs with each other, one of them holds the same value in all rows,
  // and in the other one element decides.
  device::InputChange change(Perturbation kind, int input, Rng& rng) const;

 private:
  bool holds_truths(int input) const;
  // Returns the draw of whole numbers that gave the input's elements, or null.
  const plan::analysis::InputDraw* whole_draw_of(int input) const;

  const plan::Plan& task_;
  const plan::analysis::ForwardFacts& facts_;
  const std::vector<int>& direct_;
  const std::vector<plan::analysis::InputDraw>& draws_;
};

}  // namespace tritonsmith::gym::trial
