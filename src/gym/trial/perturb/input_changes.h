// Makes the changes of a perturbation to a task's inputs. Inputs that a generator filled directly
// are changed themselves, after the phase inputs. Other inputs follow from draws, and each draw is
// changed right after it was made, so that the input stays in its domain. Inputs without any draw
// get noise and factors. The referee's thread calls this.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "gym/device/device.h"
#include "gym/plan/analysis/epsilons.h"
#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/analysis/input_draws.h"
#include "gym/trial/perturb/candidate_numbers.h"
#include "gym/trial/perturb/perturbation.h"
#include "gym/trial/perturb/truth_questions.h"

namespace tritonsmith::gym::trial {

// Knows which inputs and draws of a task can be changed, and how. It refers to the task.
class InputChanges {
 public:
  // `numbers` are the candidate's own, or null. This object refers to them. `within_bounds`: inputs
  // that were drawn between two bounds stay there. They may else leave them, as other inputs do.
  explicit InputChanges(const plan::Plan& task, const CandidateNumbers* numbers = nullptr,
                        bool within_bounds = false);

  // Says whether an extreme kind changes anything, in a way that no other kind of it does.
  bool is_changed_by(Perturbation kind) const;
  // Says whether each result depends on one element of the only input, which is drawn directly.
  bool is_pointwise() const {
    return facts_.is_elementwise && task_.unplanned.empty() && ways_ == std::vector{Way::directly};
  }
  // Says whether a reduction may read a directly drawn input that has rows for few kinds of change.
  bool has_few_rows() const;
  // Says whether a generator drew an input directly, and between two bounds.
  bool has_bounded_input() const;
  // The changes of draws, by the step that makes them.
  std::map<std::size_t, device::InputChange> draw_changes(Perturbation kind, Rng& rng) const;
  // The changes of the drawn inputs, in the inputs' order.
  std::vector<device::InputChange> input_changes(Perturbation kind, Rng& rng,
                                                 const tensors::TensorTable& tensors) const;

 private:
  enum class Way { directly, by_draws, never_drawn };
  // An input or a draw that changes as a whole. Kinds that alternate count these.
  struct Unit {
    int nth = 0;
    bool is_coarse = false;  // 16 bits or fewer reach forward
    bool is_double = false;
  };

  Unit unit_of(const std::vector<int>& inputs, int nth) const;
  device::InputChange direct(Perturbation kind, int input, Unit unit, Rng& rng) const;
  device::InputChange of_draw(Perturbation kind, const plan::analysis::InputDraw& draw, Unit unit,
                              Rng& rng) const;
  bool is_tied_itself(int input) const;
  device::InputChange of_normal(Perturbation kind, const plan::analysis::InputDraw& draw, Unit unit,
                                Rng& rng) const;
  device::InputChange extreme(Perturbation kind, Unit unit, Rng& rng) const;
  bool ignores_whole_numbers(const tensors::TensorTable& tensors) const;
  device::InputChange whole_numbers(Perturbation kind, int input,
                                    const tensors::TensorTable& tensors, Rng& rng) const;

  TruthQuestions questions() const { return {task_, facts_, direct_, draws_}; }
  // Some numbers of the candidate's code: by which rows move, and at which large elements stand.
  struct OfCode {
    std::vector<double> shifts;
    std::vector<std::int64_t> positions;
  };
  OfCode numbers_of_code(Unit unit, Rng& rng) const;

  const plan::Plan& task_;
  const CandidateNumbers* numbers_;
  bool within_bounds_;
  plan::analysis::ForwardFacts facts_;
  std::vector<plan::analysis::Epsilon> epsilons_;
  std::vector<double> reduced_bounds_;
  std::vector<int> inputs_;
  std::set<int> scores_;     // inputs that decide an attention's scores
  std::vector<Way> ways_;    // of each input
  std::vector<int> direct_;  // inputs that change directly
  std::set<int> unbounded_;  // inputs that are sums and multiples of normal draws
  std::vector<plan::analysis::InputDraw> draws_;  // only those that are changed
};

// Changes one drawn input, or one draw, in place.
void change_input(const device::InputChange& change, at::Tensor& tensor);
// Does so to the result of one step of the phase inputs, if it has a change.
void change_draw(const std::map<std::size_t, device::InputChange>& changes, std::size_t step,
                 const plan::Plan& task, tensors::TensorTable& tensors);
// Changes all inputs after their phase has run. Draws keep what they gave.
void perturb_inputs(const plan::Plan& task, Perturbation kind, Rng& rng,
                    tensors::TensorTable& tensors);

}  // namespace tritonsmith::gym::trial
