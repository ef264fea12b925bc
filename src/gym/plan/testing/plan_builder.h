// PlanBuilder: builds launch plans for tests step by step in C++, without capturing Python.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan {

inline Value t(int index) { return Value{TensorRef{index}}; }
inline Value i(std::int64_t number) { return Value{number}; }
inline Value f(double number) { return Value{number}; }
inline Value ints(std::vector<std::int64_t> numbers) {
  List list;
  for (const std::int64_t number : numbers) list.items.push_back(i(number));
  return Value{std::move(list)};
}

class PlanBuilder {
 public:
  explicit PlanBuilder(PlanRole role) {
    plan_.role = role;
    plan_.target = "sm_90";
  }

  // Adds a contiguous tensor with a storage of its own and returns its index.
  int tensor(std::vector<std::int64_t> shape, DType dtype = DType::float32) {
    PlanTensor made{.dtype = dtype, .shape = std::move(shape)};
    made.stride.resize(made.shape.size());
    std::int64_t elements = 1;
    for (std::size_t k = made.shape.size(); k-- > 0;) {
      made.stride[k] = elements;
      elements *= made.shape[k];
    }
    made.storage = static_cast<int>(plan_.tensors.size());
    made.storage_bytes = elements * bytes_of(dtype);
    plan_.tensors.push_back(std::move(made));
    return static_cast<int>(plan_.tensors.size()) - 1;
  }
  // Adds a tensor of another shape over the same memory and returns its index.
  int view(int base, std::vector<std::int64_t> shape, std::vector<std::int64_t> stride,
           std::int64_t offset = 0) {
    PlanTensor made = plan_.tensors.at(static_cast<std::size_t>(base));
    made.shape = std::move(shape);
    made.stride = std::move(stride);
    made.offset = offset;
    plan_.tensors.push_back(std::move(made));
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  PlanBuilder& aten(Phase phase, std::string op, std::vector<Value> args, std::vector<int> outputs,
                    std::vector<std::pair<std::string, Value>> kwargs = {}) {
    plan_.steps.push_back({.phase = phase,
                           .line = next_line_++,
                           .action = AtenCall{std::move(op), std::move(args), std::move(kwargs),
                                              std::move(outputs)}});
    return *this;
  }
  PlanBuilder& input(Value value) {
    plan_.inputs.push_back(std::move(value));
    return *this;
  }
  PlanBuilder& parameter(std::string name, int tensor_index,
                         ParameterKind kind = ParameterKind::parameter) {
    plan_.parameters.push_back({std::move(name), tensor_index, kind});
    return *this;
  }
  int kernel(std::string name, std::vector<std::string> arguments, std::string code = "module {}") {
    plan_.kernels.push_back({.name = std::move(name),
                             .code = std::move(code),
                             .arguments = std::move(arguments),
                             .line = 1});
    return static_cast<int>(plan_.kernels.size()) - 1;
  }
  PlanBuilder& launch(int kernel_index, std::vector<Value> arguments) {
    plan_.steps.push_back({.phase = Phase::forward,
                           .line = next_line_++,
                           .action = LaunchStep{{LaunchChoice{
                               .kernel = kernel_index, .arguments = std::move(arguments)}}}});
    return *this;
  }
  PlanBuilder& returns(Value value) {
    plan_.outputs = std::move(value);
    return *this;
  }

  const Plan& plan() const { return plan_; }
  Plan& plan() { return plan_; }

 private:
  Plan plan_;
  int next_line_ = 10;
};

}  // namespace tritonsmith::gym::plan
