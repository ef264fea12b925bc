// Checks what a plan must satisfy beyond its form, in the order of the list at the top of plan.h.
#include <algorithm>
#include <map>
#include <set>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan {
namespace {

Status check_tensor(const PlanTensor& tensor) {
  if (tensor.stride.size() != tensor.shape.size())
    return fail("{} dimensions but {} strides", tensor.shape.size(), tensor.stride.size());
  if (tensor.shape.size() > plan_limits::kDimensions)
    return fail("{} dimensions are more than {}", tensor.shape.size(), plan_limits::kDimensions);
  std::int64_t elements = 1, last = tensor.offset;
  bool empty = false, overflow = false;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const std::int64_t size = tensor.shape[axis], stride = tensor.stride[axis];
    if (size < 0 || stride < 0) return fail("a negative size or stride");
    empty |= size == 0;
    std::int64_t reach = 0;
    overflow |= __builtin_mul_overflow(elements, std::max<std::int64_t>(size, 1), &elements);
    overflow |= __builtin_mul_overflow(std::max<std::int64_t>(size - 1, 0), stride, &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  std::int64_t end = 0, bytes = 0;
  overflow |= __builtin_add_overflow(last, std::int64_t{1}, &end);
  overflow |= __builtin_mul_overflow(end, bytes_of(tensor.dtype), &end);
  // A broadcast tensor has more elements than its storage. A copy of it must still be addressable.
  overflow |= __builtin_mul_overflow(elements, bytes_of(tensor.dtype), &bytes);
  if (tensor.offset < 0 || overflow || bytes > plan_limits::kStorageBytes)
    return fail("the size is out of range");
  if (tensor.storage_bytes < 0 || tensor.storage_bytes > plan_limits::kStorageBytes)
    return fail("the storage's size is out of range");
  if (!empty && end > tensor.storage_bytes)
    return fail("it ends at byte {} of a storage of {}", end, tensor.storage_bytes);
  return ok();
}

bool is_contiguous(const PlanTensor& tensor) {
  std::int64_t expected = 1;
  for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
    if (tensor.shape[axis] != 1 && tensor.stride[axis] != expected) return false;
    expected *= std::max<std::int64_t>(tensor.shape[axis], 1);
  }
  return true;
}

bool is_name(std::string_view name, std::string_view also) {
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           also.find(c) != std::string_view::npos;
  });
}

// Says whether a value fits an argument's type.
bool accepts(std::string_view type, const Value& value) {
  if (type.starts_with("*")) return std::holds_alternative<TensorRef>(value.data);
  if (type.starts_with("fp") || type.starts_with("bf"))
    return std::holds_alternative<double>(value.data);
  if (type == "u1" || type == "i1")
    return std::holds_alternative<bool>(value.data) ||
           std::holds_alternative<std::int64_t>(value.data);
  return (type.starts_with("i") || type.starts_with("u")) &&
         std::holds_alternative<std::int64_t>(value.data);
}

// Walks through the steps once and tracks which tensors exist at each step.
class Walk {
 public:
  explicit Walk(const Plan& plan) : plan_(plan), known_(plan.tensors.size(), false) {}

  Status run() {
    // A candidate receives these tensors; a task makes them in its own steps.
    if (plan_.role == PlanRole::candidate) {
      for (const Value& value : plan_.init_args) TRY_WITHIN("init_args", introduce(value));
      for (const Value& value : plan_.inputs) TRY_WITHIN("inputs", introduce(value));
      if (plan_.first_call)
        for (const Value& value : plan_.first_call->inputs)
          TRY_WITHIN("first_call", introduce(value));
    }
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (!plan_.steps[i].choices.empty()) TRY_WITHIN(fmt::format("steps[{}]", i), take_hook(i));
      TRY_WITHIN(fmt::format("steps[{}]", i), take(plan_.steps[i]));
    }
    for (const Value& value : plan_.init_args) TRY_WITHIN("init_args", must_be_known(value));
    for (const Value& value : plan_.inputs) TRY_WITHIN("inputs", must_be_known(value));
    for (const PlanParameter& parameter : plan_.parameters)
      TRY_WITHIN(parameter.name, must_be_known(Value{TensorRef{parameter.tensor}}));
    TRY_WITHIN("outputs", must_be_known(plan_.outputs));
    if (plan_.first_call) TRY_WITHIN("first_call", must_be_known(plan_.first_call->outputs));
    return ok();
  }

 private:
  Status in_range(int tensor) const {
    if (tensor < 0 || static_cast<std::size_t>(tensor) >= known_.size())
      return fail("tensor {} does not exist", tensor);
    return ok();
  }

  Status introduce(const Value& value) {
    std::vector<int> tensors;
    append_tensors(value, tensors);
    for (const int tensor : tensors) {
      TRY(in_range(tensor));
      known_[static_cast<std::size_t>(tensor)] = true;
    }
    return ok();
  }

  Status must_be_known(const Value& value) const {
    std::vector<int> tensors;
    append_tensors(value, tensors);
    for (const int tensor : tensors) {
      TRY(in_range(tensor));
      if (!known_[static_cast<std::size_t>(tensor)])
        return fail("tensor {} is read before it is made", tensor);
    }
    return ok();
  }

  Status take(const PlanStep& step) {
    if (step.phase < phase_)
      return fail("phase {} comes after {}", name_of(step.phase), name_of(phase_));
    if (step.phase == Phase::inputs && plan_.role == PlanRole::candidate)
      return fail("a candidate makes no inputs");
    if (step.phase == Phase::first_call && !plan_.first_call)
      return fail("a step of a first call that the plan does not have");
    phase_ = step.phase;
    if (const auto* call = std::get_if<AtenCall>(&step.action)) return take_aten(*call);
    if (const auto* launch = std::get_if<LaunchStep>(&step.action)) return take_launch(*launch);
    return take_constant(std::get<ConstantStep>(step.action));
  }

  // A step that only some choices of the next launch run must not make tensors for later steps.
  Status take_hook(std::size_t index) const {
    const PlanStep& step = plan_.steps[index];
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || plan_.role != PlanRole::candidate)
      return fail("only a candidate's operators belong to choices of a launch");
    for (const int output : call->outputs)
      if (output != -1) TRY(must_be_known(Value{TensorRef{output}}));
    const std::optional<std::size_t> launch = next_launch(plan_, index);
    if (!launch) return fail("no launch follows whose choices run it");
    const auto& choices = std::get<LaunchStep>(plan_.steps[*launch].action).choices;
    for (const int choice : step.choices)
      if (static_cast<std::size_t>(choice) >= choices.size())
        return fail("the next launch has no choice {}", choice);
    return ok();
  }

  Status take_aten(const AtenCall& call) {
    if (!call.op.starts_with("aten::") || !is_name(call.op.substr(6), "."))
      return fail("'{}' is no operator of ATen", call.op.substr(0, 80));
    std::vector<int> read;
    for (const Value& value : call.args) append_tensors(value, read);
    for (const auto& [name, value] : call.kwargs) append_tensors(value, read);
    for (const int tensor : read) TRY(must_be_known(Value{TensorRef{tensor}}));
    const std::set<int> arguments(read.begin(), read.end());
    for (const int output : call.outputs) {
      if (output == -1) continue;
      TRY(in_range(output));
      if (known_[static_cast<std::size_t>(output)] && !arguments.contains(output) &&
          !is_made_by(output, call))
        return fail("tensor {} is made a second time", output);
      known_[static_cast<std::size_t>(output)] = true;
      made_by_.emplace(output, &call);
    }
    return ok();
  }

  // Says whether the same call has made the tensor before. Only a candidate may call it again.
  bool is_made_by(int tensor, const AtenCall& call) const {
    const auto made = made_by_.find(tensor);
    return plan_.role == PlanRole::candidate && made != made_by_.end() && *made->second == call;
  }

  Status take_launch(const LaunchStep& launch) const {
    if (launch.choices.empty() || launch.choices.size() > plan_limits::kChoices)
      return fail("a launch has 1 to {} choices", plan_limits::kChoices);
    std::vector<int> first;
    for (std::size_t i = 0; i < launch.choices.size(); ++i) {
      std::vector<int> tensors;
      TRY(take_choice(launch.choices[i], tensors));
      if (i == 0) first = tensors;
      if (tensors != first) return fail("the choices of a launch receive different tensors");
    }
    return ok();
  }

  Status take_choice(const LaunchChoice& choice, std::vector<int>& tensors) const {
    if (choice.kernel < 0 || static_cast<std::size_t>(choice.kernel) >= plan_.kernels.size())
      return fail("kernel {} does not exist", choice.kernel);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (choice.grid[axis] < 1 || choice.grid[axis] > plan_limits::kGrid[axis])
        return fail("a grid of {} along axis {} cannot be launched", choice.grid[axis], axis);
    const auto& types = plan_.kernels[static_cast<std::size_t>(choice.kernel)].arguments;
    if (choice.arguments.size() != types.size())
      return fail("{} arguments for a kernel that has {}", choice.arguments.size(), types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!accepts(types[i], choice.arguments[i])) return fail("argument {} is no {}", i, types[i]);
      TRY(must_be_known(choice.arguments[i]));
      append_tensors(choice.arguments[i], tensors);
    }
    return ok();
  }

  Status take_constant(const ConstantStep& constant) {
    TRY(in_range(constant.output));
    if (known_[static_cast<std::size_t>(constant.output)])
      return fail("tensor {} is made a second time", constant.output);
    const PlanTensor& tensor = plan_.tensors[static_cast<std::size_t>(constant.output)];
    if (!is_contiguous(tensor) || tensor.offset != 0) return fail("a constant must be contiguous");
    const std::int64_t bytes = elements_of(tensor) * bytes_of(tensor.dtype);
    if (bytes != static_cast<std::int64_t>(constant.bytes.size()))
      return fail("{} bytes for a constant of {}", constant.bytes.size(), bytes);
    constant_bytes_ += constant.bytes.size();
    if (constant_bytes_ > plan_limits::kConstantBytes)
      return fail("constants exceed {} bytes", plan_limits::kConstantBytes);
    known_[static_cast<std::size_t>(constant.output)] = true;
    return ok();
  }

  const Plan& plan_;
  std::vector<bool> known_;
  std::map<int, const AtenCall*> made_by_;
  Phase phase_ = Phase::init;
  std::size_t constant_bytes_ = 0;
};

Status check_tensors(const Plan& plan) {
  std::map<int, std::int64_t> storages;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlanTensor& tensor = plan.tensors[i];
    TRY_WITHIN(fmt::format("tensors[{}]", i), check_tensor(tensor));
    const auto [at, added] = storages.emplace(tensor.storage, tensor.storage_bytes);
    if (!added && at->second != tensor.storage_bytes)
      return fail("tensors[{}]: storage {} has two sizes", i, tensor.storage);
  }
  return ok();
}

Status check_names(const Plan& plan) {
  std::set<std::string_view> names;
  for (const PlanParameter& parameter : plan.parameters)
    if (!names.insert(parameter.name).second)
      return fail("two parameters are called '{}'", parameter.name);
  for (const PlanKernel& kernel : plan.kernels)
    if (!is_name(kernel.name, ".$")) return fail("a kernel's name must be an identifier");
  if (plan.input_names.size() > plan.inputs.size()) return fail("more names than inputs");
  for (const std::string& name : plan.input_names)
    if (!name.empty() && !is_name(name, "[]")) return fail("an input's name must be an identifier");
  for (const int input : plan.mutated_inputs)
    if (input < 0 || static_cast<std::size_t>(input) >= plan.inputs.size())
      return fail("mutated input {} does not exist", input);
  return ok();
}

Status check_first_call(const Plan& plan) {
  if (!plan.first_call) return ok();
  if (plan.role != PlanRole::candidate) return fail("only a candidate's plan has a first call");
  std::vector<int> inputs, of_first_call;
  for (const Value& value : plan.inputs) append_tensors(value, inputs);
  for (const Value& value : plan.first_call->inputs) append_tensors(value, of_first_call);
  const bool are_alike = std::ranges::equal(inputs, of_first_call, [&](int one, int other) {
    const auto last = static_cast<int>(plan.tensors.size());
    if (one < 0 || other < 0 || one >= last || other >= last) return false;
    const PlanTensor &a = plan.tensors[static_cast<std::size_t>(one)],
                     &b = plan.tensors[static_cast<std::size_t>(other)];
    return a.dtype == b.dtype && a.shape == b.shape && a.stride == b.stride;
  });
  return are_alike ? ok() : fail("the first call has inputs of another form");
}

Status check_orders(const Plan& plan) {
  int last = 0;
  for (const StreamOrder& order : plan.orders) {
    if (order.before < last || static_cast<std::size_t>(order.before) > plan.steps.size())
      return fail("an order of streams stands before step {}", order.before);
    if (order.stream == StreamOrder::kHost && order.kind != StreamOrder::Kind::wait)
      return fail("only a wait may be Python's own");
    last = order.before;
  }
  return ok();
}

Status check_unplanned(const Plan& plan) {
  if (plan.unplanned.empty()) return ok();
  const bool has_forward = std::ranges::any_of(
      plan.steps, [](const PlanStep& step) { return step.phase == Phase::forward; });
  if (plan.role != PlanRole::task || has_forward || !plan.kernels.empty() ||
      !std::holds_alternative<None>(plan.outputs.data))
    return fail("only a task's plan may lack its forward, and then has nothing of it");
  return ok();
}

}  // namespace

// Callable only for tensors that passed check_plan, so that the product cannot overflow.
std::vector<int> tensors_given_to(const AtenCall& call) {
  std::vector<int> given;
  for (const Value& argument : call.args) append_tensors(argument, given);
  for (const auto& [name, argument] : call.kwargs) append_tensors(argument, given);
  return given;
}

std::optional<std::size_t> next_launch(const Plan& plan, std::size_t step) {
  for (std::size_t i = step; i < plan.steps.size(); ++i) {
    if (plan.steps[i].phase != plan.steps[step].phase) break;
    if (std::holds_alternative<LaunchStep>(plan.steps[i].action)) return i;
  }
  return std::nullopt;
}

std::int64_t elements_of(const PlanTensor& tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.shape) elements *= size;
  return elements;
}

Plan first_call_of(Plan candidate) {
  CHECK(candidate.first_call, "the plan holds one call");
  FirstCall first = *std::move(candidate.first_call);
  candidate.first_call.reset();
  candidate.inputs = std::move(first.inputs);
  candidate.outputs = std::move(first.outputs);
  candidate.mutated_inputs.clear();
  std::erase_if(candidate.steps, [](const PlanStep& step) { return step.phase == Phase::forward; });
  for (PlanStep& step : candidate.steps)
    if (step.phase == Phase::first_call) step.phase = Phase::forward;
  std::erase_if(candidate.orders, [&](const StreamOrder& order) {
    return static_cast<std::size_t>(order.before) > candidate.steps.size();
  });
  return candidate;
}

Status check_plan(const Plan& plan) {
  TRY(check_unplanned(plan));
  TRY(check_tensors(plan));
  TRY(check_names(plan));
  TRY(check_first_call(plan));
  TRY(check_orders(plan));
  return Walk(plan).run();
}

}  // namespace tritonsmith::gym::plan
