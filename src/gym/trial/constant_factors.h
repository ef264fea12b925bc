// Finds products with constants by their values. A matrix of ones or a triangle turns a product into
// a mean or a running sum, which policy `fused` does not leave to PyTorch. A kernel may have written
// the matrix, so the plan alone does not show it. A factor that is the same in every trial, but for a
// thousandth, although inputs and weights are others, is such a constant. So is one that is the same
// up to one number for all its elements, because a kernel may divide by that number afterwards.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "data/verdict.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::trial {

struct Sides;

// By tensor of each side's plan: some of its elements after one trial, at the same indices in each
// trial.
struct FactorSamples {
  using Sampled = std::map<int, std::vector<float>>;
  Sampled candidate, reference;
};

// Samples the factors of both sides' products, and the tensors that a trial changes. Both sides must
// have run.
FactorSamples sample_factors(const Sides& sides);

// Compares the samples of a job's trials. The referee makes one for each job.
class ConstantFactors {
 public:
  // The plans must outlive this.
  ConstantFactors(const plan::Plan& candidate, const plan::Plan& reference, Policy policy);

  // Says whether forward has products that the policy limits.
  bool watches() const { return watches_; }
  void note(const FactorSamples& samples);
  // Returns a finding if a factor was the same up to a number in two trials or more, and no factor of
  // the task was. A factor that follows from an input or a weight which no trial changed says nothing.
  std::vector<Finding> findings() const;

 private:
  // The tensors of one plan whose samples were equal until now, and those whose samples were equal up
  // to a number.
  class Side {
   public:
    explicit Side(const plan::Plan& plan) : plan_(plan) {}
    void note(const FactorSamples::Sampled& samples);
    // Returns the constant factor of the first product that has one, as the index of its step, or -1.
    int constant_step() const;

   private:
    const plan::Plan& plan_;
    FactorSamples::Sampled same_, alike_;
    bool has_begun_ = false;
  };

  const plan::Plan& candidate_;
  bool watches_ = false;
  int notes_ = 0;
  Side candidate_side_, reference_side_;
};

}  // namespace tritonsmith::gym::trial
