#include "gym/referee/adequacy/difference_search.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <array>
#include <cmath>

#include "gym/plan/analysis/batch_counter.h"
#include "gym/plan/analysis/input_draws.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/trial/perturb/input_changes.h"
#include "gym/trial/perturb/patterns.h"

namespace tritonsmith::gym::referee {
namespace {

// One change of all inputs that a generator drew: x * factor + shift.
struct Wild {
  double factor = 1, shift = 0;
  bool sorts = false;
  double weights = 1;  // the factor of noise that is added to parameters
};
constexpr auto kWild = std::to_array<Wild>({{.factor = 1},
                                            {.factor = 1e3},
                                            {.factor = -30},
                                            {.factor = 1e-3},
                                            {.factor = 0},
                                            {.factor = 0, .shift = 3},
                                            {.factor = 0, .shift = -0.5},
                                            {.factor = 1, .shift = 1e3},
                                            {.factor = 1, .shift = -1e3},
                                            {.factor = 20, .sorts = true},
                                            {.factor = 1e6},
                                            {.factor = 30, .weights = 30}});

void change(const Wild& wild, at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_floating_point() || tensor.numel() == 0 ||
      tensor.element_size() < 2)
    return;
  at::Tensor all = trial::changeable_view(tensor);
  if (wild.sorts) all.copy_(std::get<0>(all.flatten().sort()).reshape(all.sizes()));
  all.mul_(wild.factor).add_(wild.shift);
}

bool differ(const at::Tensor& one, const at::Tensor& other) {
  if (one.defined() != other.defined()) return true;
  if (!one.defined()) return false;
  if (one.sizes() != other.sizes() || one.scalar_type() != other.scalar_type()) return true;
  if (!other.is_floating_point()) return !at::equal(one, other);
  // A norm of equal values leaves noise, which has no size to compare with.
  constexpr double by_rounding = 1e-7, noise = 1e-9;
  const at::Tensor got = one.to(at::kDouble), expected = other.to(at::kDouble);
  const at::Tensor same = got.eq(expected).logical_or(got.isnan().logical_and(expected.isnan()));
  const at::Tensor finite = expected.isfinite();
  const double size =
      at::where(finite, expected, 0.0).square().mean().sqrt().nan_to_num(0.0).item<double>();
  const at::Tensor near = (got - expected)
                              .abs()
                              .le((expected.abs() + size).mul(by_rounding).add(noise))
                              .logical_and(finite);
  return other.numel() > 0 && !same.logical_or(near).all().item<bool>();
}

class Search {
 public:
  Search(Equipment& equipment, const FaultySides& sides)
      : equipment_(equipment),
        job_(sides.job),
        task_(sides.task),
        candidate_(sides.candidate),
        precision_(sides.precision) {}

  bool finds_difference(const Wild& wild, int nth) {
    replay::Replay drawn = side(task_, replay::Precision::as_written);
    seed("init", nth);
    if (drawn.run(plan::Phase::init)) return false;
    seed("inputs", nth);
    if (drawn.run(plan::Phase::inputs)) return false;
    const c10::InferenceMode no_gradients(true);
    seed("wild", nth);
    for (const int input : trial::input_tensors(task_))
      if (plan::analysis::is_drawn_directly(task_, input))
        change(wild, drawn.tensors().at(static_cast<std::size_t>(input)));
    change_weights(wild, drawn.tensors());
    replay::Replay reference = side(task_, precision_), candidate = side(candidate_, precision_);
    for (std::size_t k = 0; k < drawn.tensors().size(); ++k) {
      if (!drawn.tensors()[k].defined()) continue;
      reference.tensors()[k] = copy_of(drawn.tensors()[k]);
      candidate.tensors().at(k) = copy_of(drawn.tensors()[k]);
    }
    if (reference.run(plan::Phase::forward)) return false;
    if (candidate.run(plan::Phase::forward)) return true;
    std::vector<int> ours, theirs;
    plan::append_tensors(task_.outputs, ours);
    plan::append_tensors(candidate_.outputs, theirs);
    for (std::size_t k = 0; k < ours.size() && k < theirs.size(); ++k)
      if (differ(tensors::tensor_at(candidate.tensors(), theirs[k]),
                 tensors::tensor_at(reference.tensors(), ours[k])))
        return true;
    for (const plan::PlanParameter& parameter : task_.parameters)
      if (!plan::analysis::is_batch_counter(parameter.name) &&
          differ(tensors::tensor_at(candidate.tensors(), parameter.tensor),
                 tensors::tensor_at(reference.tensors(), parameter.tensor)))
        return true;
    return false;
  }

 private:
  replay::Replay side(const plan::Plan& plan, replay::Precision precision) {
    return {plan,
            *equipment_.executor,
            {.precision = precision,
             .device = &equipment_.device,
             .draws_seed = trial::trial_seed(job_.secret, "wild", 0)}};
  }
  at::Tensor copy_of(const at::Tensor& tensor) const {
    return tensor.is_floating_point() && precision_ == replay::Precision::float64
               ? tensor.to(at::kDouble, false, true)
               : tensor.clone();
  }
  void seed(std::string_view purpose, int nth) {
    equipment_.device.seed(trial::trial_seed(job_.secret, purpose, nth));
  }
  // Masks and tables are buffers, and stay as they are.
  void change_weights(const Wild& wild, tensors::TensorTable& tensors) const {
    for (const plan::PlanParameter& parameter : task_.parameters) {
      at::Tensor& weight = tensors::tensor_at(tensors, parameter.tensor);
      if (parameter.kind != plan::ParameterKind::parameter || parameter.is_frozen ||
          !weight.defined() || !weight.is_floating_point() || weight.element_size() < 2 ||
          !weight.is_non_overlapping_and_dense())
        continue;
      weight.add_(at::randn_like(weight), wild.weights);
    }
  }

  Equipment& equipment_;
  const RefereeJob& job_;
  const plan::Plan& task_;
  const plan::Plan& candidate_;
  replay::Precision precision_;
};

}  // namespace

bool differs_somewhere(Equipment& equipment, const FaultySides& sides) {
  Search search(equipment, sides);
  for (int nth = 0; nth < std::ssize(kWild); ++nth)
    if (search.finds_difference(kWild.at(static_cast<std::size_t>(nth)), nth)) return true;
  return false;
}

}  // namespace tritonsmith::gym::referee
