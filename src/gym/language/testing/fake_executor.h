// FakeExecutor: runs a plan's launches with the test's own functions, by the kernel's name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "gym/language/kernel_executor.h"

namespace tritonsmith::gym::language {

class FakeExecutor : public KernelExecutor {
 public:
  using Body = std::function<LaunchOutcome(std::span<const KernelArgument>)>;

  FakeExecutor& define(std::string kernel, Body body) {
    bodies_[std::move(kernel)] = std::move(body);
    return *this;
  }

  LaunchOutcome launch(const plan::PlanKernel& kernel, const plan::LaunchChoice&,
                       std::span<const KernelArgument> arguments, Deadline) override {
    const auto at = bodies_.find(kernel.name);
    if (at != bodies_.end()) return at->second(arguments);
    return {.error = VerdictError{.error_class = ErrorClass::not_evaluable,
                                  .message = "the test has no " + kernel.name}};
  }

  // From now on the executor accepts program orders, and stores each one in `order`.
  FakeExecutor& note_order(ProgramOrder& order) {
    order_ = &order;
    return *this;
  }
  bool set_order(const ProgramOrder& order) override {
    if (order_ != nullptr) *order_ = order;
    return order_ != nullptr;
  }

  // From now on the executor accepts other roundings, and stores each one in `rounding`.
  FakeExecutor& note_rounding(ResultRounding& rounding) {
    rounding_ = &rounding;
    return *this;
  }
  bool set_rounding(const ResultRounding& rounding) override {
    if (rounding_ != nullptr) *rounding_ = rounding;
    return rounding_ != nullptr;
  }

 private:
  ProgramOrder* order_ = nullptr;
  ResultRounding* rounding_ = nullptr;
  std::map<std::string, Body> bodies_;
};

// Returns a pointer to the float at the buffer's pointer.
inline float* floats(const KernelArgument& argument) {
  const auto& buffer = std::get<KernelBuffer>(argument);
  return reinterpret_cast<float*>(buffer.storage + buffer.offset_bytes);
}

// Makes a kernel `out[k] = function(in[k])` for n floats. Its arguments are (in, out).
inline FakeExecutor::Body elementwise(int n, std::function<float(float)> function) {
  return [n, function](std::span<const KernelArgument> arguments) {
    for (int k = 0; k < n; ++k) floats(arguments[1])[k] = function(floats(arguments[0])[k]);
    return LaunchOutcome{.loaded = {0}, .stored = {1}};
  };
}

}  // namespace tritonsmith::gym::language
