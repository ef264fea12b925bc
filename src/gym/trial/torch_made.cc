#include "gym/trial/torch_made.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::trial {
namespace {

using plan::operators::Trait;

const plan::AtenCall* forward_call(const plan::PlanStep& step) {
  const auto* call = std::get_if<plan::AtenCall>(&step.action);
  return step.phase == plan::Phase::forward ? call : nullptr;
}

bool only_arranges(const plan::Plan& task) {
  return std::ranges::all_of(task.steps, [](const plan::PlanStep& step) {
    const plan::AtenCall* call = forward_call(step);
    return call == nullptr || plan::operators::only_arranges(call->op);
  });
}

bool orders_by_values(const plan::Plan& task) {
  return std::ranges::any_of(task.steps, [](const plan::PlanStep& step) {
    const plan::AtenCall* call = forward_call(step);
    return call != nullptr && (plan::operators::is(call->op, Trait::orders) ||
                               (plan::operators::is(call->op, Trait::keeps_as_drawn) &&
                                !plan::operators::only_arranges(call->op)));
  });
}

at::Tensor in_single(const at::Tensor& tensor) { return tensor.to(at::kFloat).reshape({-1}); }

bool is_near(const at::Tensor& one, const at::Tensor& other, double tolerance) {
  return at::allclose(one, other, tolerance, tolerance, true);
}

bool is_whole(const at::Tensor& tensor) {
  return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

enum class Order { same, any };

// Says whether two tensors hold the same values. Whole numbers must be equal, and not all the same.
bool hold_the_same(const at::Tensor& made, const at::Tensor& output, double tolerance,
                   Order order) {
  if (!made.defined() || made.numel() != output.numel() || made.numel() < 2 ||
      made.device() != output.device() || is_whole(made) != is_whole(output) ||
      (!is_whole(made) && !made.is_floating_point()))
    return false;
  if (is_whole(made)) {
    const at::Tensor one = made.to(at::kLong).reshape({-1}),
                     other = output.to(at::kLong).reshape({-1});
    if (at::equal(one, one[0].expand_as(one))) return false;
    return at::equal(one, other) ||
           (order == Order::any && at::equal(std::get<0>(one.sort()), std::get<0>(other.sort())));
  }
  const at::Tensor one = in_single(made), other = in_single(output);
  if (!is_near(one.max(), other.max(), tolerance) || !is_near(one.min(), other.min(), tolerance))
    return false;
  if (is_near(one, other, tolerance)) return true;
  return order == Order::any &&
         is_near(std::get<0>(one.sort()), std::get<0>(other.sort()), tolerance);
}

// Follows which of the tensors that forward's operators made hold what kernels computed.
class MadeByTorch {
 public:
  MadeByTorch(const Sides& sides, const replay::LaunchTraces& launches)
      : plan_(sides.config.candidate),
        tensors_(sides.candidate.tensors()),
        tolerance_(tolerance_of(sides).value),
        inputs_(input_tensors(plan_)) {
    for (std::size_t k = 0; k < plan_.steps.size(); ++k) {
      if (const auto launch = launches.find(k); launch != launches.end())
        for (const int tensor : launch->second.stored_tensors)
          if (tensor >= 0) by_kernels_.insert(storage_of(tensor));
      const plan::AtenCall* call = forward_call(plan_.steps[k]);
      if (call != nullptr && !plan::operators::only_allocates(call->op)) follow(*call);
    }
  }

  // Returns the tensors in which no kernel had a part.
  std::vector<at::Tensor> tensors() const {
    std::vector<at::Tensor> found;
    for (const int index : made_)
      if (!by_kernels_.contains(storage_of(index)))
        found.push_back(tensors::tensor_at(tensors_, index));
    return found;
  }

 private:
  int storage_of(int tensor) const {
    return plan_.tensors.at(static_cast<std::size_t>(tensor)).storage;
  }

  void follow(const plan::AtenCall& call) {
    std::vector<int> read;
    for (const plan::Value& argument : call.args) plan::append_tensors(argument, read);
    const bool is_theirs = std::ranges::any_of(
        read, [&](int tensor) { return by_kernels_.contains(storage_of(tensor)); });
    for (const int output : call.outputs) {
      if (output < 0) continue;
      if (is_theirs && (plan::operators::only_arranges(call.op) || !is_an_input_again(output))) {
        by_kernels_.insert(storage_of(output));
      } else {
        if (is_theirs) by_kernels_.erase(storage_of(output));
        made_.push_back(output);
      }
    }
  }

  // An operator that makes an input of what kernels made of it undoes their work.
  bool is_an_input_again(int output) const {
    const at::Tensor& made = tensors::tensor_at(tensors_, output);
    return std::ranges::any_of(inputs_, [&](int input) {
      return hold_the_same(made, tensors::tensor_at(tensors_, input), tolerance_, Order::same);
    });
  }

  const plan::Plan& plan_;
  const tensors::TensorTable& tensors_;
  double tolerance_;
  std::vector<int> inputs_;
  std::set<int> by_kernels_;  // storages
  std::vector<int> made_;
};

}  // namespace

bool torch_made_outputs(const Sides& sides, const replay::LaunchTraces& launches) {
  if (!sides.reference_replays() || only_arranges(sides.config.task)) return false;
  const Order order = orders_by_values(sides.config.task) ? Order::same : Order::any;
  const double tolerance = tolerance_of(sides).value;
  const std::vector<at::Tensor> made = MadeByTorch(sides, launches).tensors();
  std::vector<int> outputs;
  plan::append_tensors(sides.task().outputs, outputs);
  bool any = false;
  for (const int index : outputs) {
    const at::Tensor& output = tensors::tensor_at(sides.reference.tensors(), index);
    if ((!output.is_floating_point() && !is_whole(output)) || output.numel() < 2) continue;
    any = true;
    if (std::ranges::none_of(made, [&](const at::Tensor& each) {
          return hold_the_same(each, output, tolerance, order);
        }))
      return false;
  }
  return any;
}

}  // namespace tritonsmith::gym::trial
