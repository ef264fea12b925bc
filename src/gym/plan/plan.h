// Plan: what a guest hands over instead of results: the buffers, ATen operators and Triton launches
// of one module, in order (docs/plan.md). parse_plan is the only way in: a plan comes from a
// process that ran a stranger's code, so every bound, index and product is checked there, and
// whoever holds a Plan may rely on:
//   - every tensor, kernel and input index is in range, and each tensor lies inside its storage;
//   - a step reads only tensors that are inputs, init_args, or were made by a step before it;
//   - phases come in the order init, inputs, forward (a candidate has no `inputs`);
//   - launches pass as many arguments as the kernel has, of the right kind, and grids are
//   launchable;
//   - a constant holds exactly the bytes of its tensor;
//   - a plan without its forward (`unplanned`) is a task's, with neither forward steps nor outputs.
// Not checked here, since it takes a dispatcher: that an operator exists, and that its arguments
// fit its schema.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gym/plan/value.h"

namespace tritonsmith::gym::plan {

enum class PlanRole { task, candidate };
enum class Phase { init, inputs, forward };
enum class ParameterKind { parameter, buffer };

struct PlanTensor {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;   // elements
  std::vector<std::int64_t> stride;  // elements, as many as shape; never negative
  std::int64_t offset = 0;           // elements from the start of the storage
  int storage = 0;                   // tensors with the same number share memory
  std::int64_t storage_bytes = 0;
  bool operator==(const PlanTensor&) const = default;
};

struct PlanParameter {
  std::string name;  // qualified: "encoder.0.weight"
  int tensor = 0;
  ParameterKind kind = ParameterKind::parameter;
  bool is_frozen = false;  // a parameter that takes no gradient
  bool operator==(const PlanParameter&) const = default;
};

// One Triton kernel, specialised for the types, constants and alignments of one launch.
struct PlanKernel {
  std::string name;
  std::string ttir;
  int num_warps = 4;
  int num_stages = 3;
  int num_ctas = 1;
  int maxnreg = 0;                     // 0: no limit was asked for
  std::vector<std::string> arguments;  // "*fp32", "i32", "u1", ...
  int line = 0;                        // where the kernel function begins, 0 unknown
  bool operator==(const PlanKernel&) const = default;
};

// An operator as the dispatcher knows it, run with these arguments.
struct AtenCall {
  std::string op;  // "aten::add.Tensor"; without a dot the overload is the default one
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> kwargs;
  std::vector<int> outputs;  // -1: the operator returns no tensor in this place
  bool operator==(const AtenCall&) const = default;
};

struct LaunchChoice {
  int kernel = 0;
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::vector<Value> arguments;  // TensorRef, int64, double or bool
  bool operator==(const LaunchChoice&) const = default;
};

// Exactly one of the choices is run; all receive the same tensors in the same order.
struct LaunchStep {
  std::vector<LaunchChoice> choices;
  bool operator==(const LaunchStep&) const = default;
};

// A tensor whose values the source itself spells out, as torch.tensor([1.0, 2.0]) does.
struct ConstantStep {
  std::string bytes;  // row-major, little endian
  int output = 0;
  bool operator==(const ConstantStep&) const = default;
};

struct PlanStep {
  Phase phase = Phase::forward;
  int line = 0;
  std::variant<AtenCall, LaunchStep, ConstantStep> action;
  int draw = -1;  // of forward's random draws, where the referee makes them beforehand; not in JSON
  bool operator==(const PlanStep&) const = default;
};

struct Plan {
  PlanRole role = PlanRole::candidate;
  std::string target;  // "sm_90"
  std::vector<PlanTensor> tensors;
  std::vector<Value> init_args;  // what the constructor was called with
  std::vector<Value> inputs;  // what forward was called with: TensorRef, or a constant of the task
  std::vector<PlanParameter> parameters;
  std::vector<PlanKernel> kernels;
  std::vector<PlanStep> steps;
  Value outputs;
  std::vector<int> mutated_inputs;  // indices into inputs
  // Of a task whose forward cannot be captured: why. The plan then only makes weights and inputs,
  // and the reference shell runs forward. Else empty.
  std::string unplanned;
  // Of a task: a second call of its forward takes other steps, by what the first one left.
  bool first_call_only = false;
  bool operator==(const Plan&) const = default;
};

namespace plan_limits {
inline constexpr std::size_t kBytes = 16u << 20;
inline constexpr std::size_t kTensors = 16384;
inline constexpr std::size_t kSteps = 16384;
inline constexpr std::size_t kKernels = 256;
inline constexpr std::size_t kChoices = 512;
inline constexpr std::size_t kArguments = 64;
inline constexpr std::size_t kDimensions = 8;
inline constexpr std::size_t kTtirBytes = 1u << 20;
inline constexpr std::size_t kConstantBytes = 4u << 20;  // one tensor, and all of them together
inline constexpr std::size_t kName = 256;
inline constexpr std::size_t kReason = 8192;  // characters
inline constexpr int kNesting = 32;
inline constexpr std::int64_t kStorageBytes = std::int64_t{1} << 42;
inline constexpr std::array<std::int64_t, 3> kGrid = {2147483647, 65535, 65535};
}  // namespace plan_limits

Result<Plan> parse_plan(std::string_view json);
Json to_json(const Plan& plan);

// The rules above on a plan that is already a struct; parse_plan applies it.
Status check_plan(const Plan& plan);

std::int64_t elements_of(const PlanTensor& tensor);

}  // namespace tritonsmith::gym::plan

namespace tritonsmith {

template <>
inline constexpr auto enum_names<gym::plan::PlanRole> = names<gym::plan::PlanRole>(
    {{gym::plan::PlanRole::task, "task"}, {gym::plan::PlanRole::candidate, "candidate"}});
template <>
inline constexpr auto enum_names<gym::plan::Phase> =
    names<gym::plan::Phase>({{gym::plan::Phase::init, "init"},
                             {gym::plan::Phase::inputs, "inputs"},
                             {gym::plan::Phase::forward, "forward"}});
template <>
inline constexpr auto enum_names<gym::plan::ParameterKind> =
    names<gym::plan::ParameterKind>({{gym::plan::ParameterKind::parameter, "parameter"},
                                     {gym::plan::ParameterKind::buffer, "buffer"}});

}  // namespace tritonsmith
