// Plan: the buffers, ATen operators and kernel launches of one module, in the order in which they
// ran (docs/plan.md). A guest returns a plan instead of results. A plan comes from a process that
// ran untrusted code. So only parse_plan makes a plan of foreign text, and it checks every bound,
// index and product. The holder of a Plan may rely on these facts:
//   - every tensor, kernel and input index is in range, and each tensor lies inside its storage;
//   - a step reads only inputs, init_args and tensors that an earlier step made;
//   - phases come in the order init, inputs, first_call, forward. A candidate has no `inputs`, and
//     only a candidate with a `first_call` has steps of the phase first_call;
//   - one step makes each tensor. Only a candidate may repeat that step, as each replay of a CUDA
//     graph does;
//   - launches pass as many arguments as the kernel has, of the right kind, and grids are
//     launchable;
//   - a constant holds exactly the bytes of its tensor;
//   - only a task's plan may lack its forward (`unplanned`). It then has neither forward steps nor
//     outputs.
//
// parse_plan does not check that an operator exists or that its arguments fit its schema. Those
// checks need LibTorch's dispatcher, and the replay makes them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gym/plan/kernel_language.h"
#include "gym/plan/value.h"

namespace tritonsmith::gym::plan {

enum class PlanRole { task, candidate };
enum class Phase { init, inputs, first_call, forward };
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
  bool is_read = false;    // Python has read its values, which the plan keeps as they were
  bool operator==(const PlanParameter&) const = default;
};

// One kernel, specialised for the types, constants and alignments of one launch.
struct PlanKernel {
  std::string name;
  KernelLanguage language = KernelLanguage::triton_ir;
  std::string code;
  int num_warps = 4;
  int num_stages = 3;
  int num_ctas = 1;
  int maxnreg = 0;                     // 0 if the launch sets no limit
  bool enable_fp_fusion = true;        // a product and a sum may become one instruction
  std::vector<std::string> arguments;  // "*fp32", "i32", "u1", ...
  int line = 0;                        // the line where the kernel function begins; 0 if unknown
  bool operator==(const PlanKernel&) const = default;
};

// One call of an operator by the dispatcher's name, with its arguments.
struct AtenCall {
  std::string op;  // "aten::add.Tensor"; without a dot the overload is the default one
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> kwargs;
  std::vector<int> outputs;  // -1: the operator returns no tensor at this position
  bool operator==(const AtenCall&) const = default;
};

struct LaunchChoice {
  int kernel = 0;
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::vector<Value> arguments;  // TensorRef, int64, double or bool
  // The autotuner's config in words, as "BLOCK: 64, num_warps: 4". Empty without an autotuner.
  std::string config;
  bool operator==(const LaunchChoice&) const = default;
};

// The replay runs exactly one of the choices. All choices receive the same tensors in the same
// order.
struct LaunchStep {
  std::vector<LaunchChoice> choices;
  // True if the autotuner resets or restores tensors between its runs, or has a hook that may.
  bool restores = false;
  bool operator==(const LaunchStep&) const = default;
};

// A tensor whose values stand in the source itself, as in torch.tensor([1.0, 2.0]).
struct ConstantStep {
  std::string bytes;  // row-major, little endian
  int output = 0;
  bool operator==(const ConstantStep&) const = default;
};

struct PlanStep {
  Phase phase = Phase::forward;
  int line = 0;
  std::variant<AtenCall, LaunchStep, ConstantStep> action;
  // The referee draws random values before forward runs. If this step draws, `draw` is the number
  // of its draw, else -1. JSON does not have this member.
  int draw = -1;
  // If a hook of some configs of an autotuner takes this step, it runs only before these choices of
  // the next launch. Empty: it always runs.
  std::vector<int> choices;
  bool operator==(const PlanStep&) const = default;
};

// One operation on CUDA streams, and the step that follows it. Streams and events have numbers. The
// main stream has the number 0.
struct StreamOrder {
  enum class Kind {
    use,     // the steps that follow run on `stream`
    record,  // `event` marks the end of the work that `stream` has so far
    wait,    // `stream` waits for `event`. If it is kHost, Python waits, and so do all later steps
    finish,  // Python waits for all streams
  };
  static constexpr int kHost = -1;
  Phase phase = Phase::forward;
  int before = 0;  // the index of the step that follows; the number of steps if none does
  Kind kind = Kind::use;
  int stream = 0;
  int event = 0;
  bool operator==(const StreamOrder&) const = default;
};

// The first call of a candidate's forward, if it takes other steps than all later calls. The plan's
// own inputs and outputs are those of the second call.
struct FirstCall {
  std::vector<Value> inputs;  // its arguments, of the same form as the plan's inputs
  Value outputs;
  std::string difference;  // how the second call differs
  bool operator==(const FirstCall&) const = default;
};

struct Plan {
  PlanRole role = PlanRole::candidate;
  std::string target;  // "sm_90"
  std::vector<PlanTensor> tensors;
  std::vector<Value> init_args;  // the arguments of the constructor
  // The arguments of forward: tensors, or constants of the task.
  std::vector<Value> inputs;
  // The names of forward's parameters, in the order of the inputs and at most as many. An empty
  // name stands for an unknown one. Only messages use the names. A candidate's guest sends none:
  // the referee copies those of the task into the candidate's plan.
  std::vector<std::string> input_names;
  std::vector<PlanParameter> parameters;
  std::vector<PlanKernel> kernels;
  std::vector<PlanStep> steps;
  // Empty if all steps run on one stream. A replay runs all steps on one stream, in their order.
  std::vector<StreamOrder> orders;
  Value outputs;
  std::vector<int> mutated_inputs;  // indices into inputs
  // Python has read the values of these inputs, by index among the distinct tensors of `inputs`.
  // The plan is valid for these values only.
  std::vector<int> read_inputs;
  // The reason why a task's forward cannot be captured; empty for all other plans. Such a plan only
  // makes weights and inputs, and the Python reference runs forward.
  std::string unplanned;
  // True for a task whose forward takes other steps when it is called a second time.
  bool first_call_only = false;
  std::optional<FirstCall> first_call;
  bool operator==(const Plan&) const = default;
};

namespace plan_limits {
inline constexpr std::size_t kBytes = 16u << 20;
inline constexpr std::size_t kTensors = 16384;
inline constexpr std::size_t kSteps = 16384;
inline constexpr std::size_t kOrders = 16384;
inline constexpr int kStreams = 1024;
inline constexpr std::size_t kKernels = 1024;
inline constexpr std::size_t kChoices = 512;
inline constexpr std::size_t kArguments = 256;
inline constexpr std::size_t kDimensions = 8;
inline constexpr std::size_t kCodeBytes = 4u << 20;
// The limit for one tensor's bytes, and for the bytes of all constants together.
inline constexpr std::size_t kConstantBytes = 4u << 20;
inline constexpr std::size_t kName = 256;
inline constexpr std::size_t kReason = 8192;  // characters
inline constexpr int kNesting = 32;
inline constexpr std::int64_t kStorageBytes = std::int64_t{1} << 42;
inline constexpr std::array<std::int64_t, 3> kGrid = {2147483647, 65535, 65535};
}  // namespace plan_limits

Result<Plan> parse_plan(std::string_view json);
Json to_json(const Plan& plan);

// Checks the rules above on a plan that is already a struct. parse_plan calls it.
Status check_plan(const Plan& plan);

std::int64_t elements_of(const PlanTensor& tensor);
// Returns the index of the first launch after a step, or nothing if that launch is in another
// phase.
std::optional<std::size_t> next_launch(const Plan& plan, std::size_t step);

// Returns the tensors among the call's arguments, by index and in their order.
std::vector<int> tensors_given_to(const AtenCall& call);

// Returns the candidate's plan with its first call as its forward. The steps keep their numbers.
Plan first_call_of(Plan candidate);

}  // namespace tritonsmith::gym::plan

namespace tritonsmith {

template <>
inline constexpr auto enum_names<gym::plan::PlanRole> = names<gym::plan::PlanRole>(
    {{gym::plan::PlanRole::task, "task"}, {gym::plan::PlanRole::candidate, "candidate"}});
template <>
inline constexpr auto enum_names<gym::plan::Phase> =
    names<gym::plan::Phase>({{gym::plan::Phase::init, "init"},
                             {gym::plan::Phase::inputs, "inputs"},
                             {gym::plan::Phase::first_call, "first_call"},
                             {gym::plan::Phase::forward, "forward"}});
template <>
inline constexpr auto enum_names<gym::plan::StreamOrder::Kind> =
    names<gym::plan::StreamOrder::Kind>({{gym::plan::StreamOrder::Kind::use, "use"},
                                         {gym::plan::StreamOrder::Kind::record, "record"},
                                         {gym::plan::StreamOrder::Kind::wait, "wait"},
                                         {gym::plan::StreamOrder::Kind::finish, "finish"}});
template <>
inline constexpr auto enum_names<gym::plan::ParameterKind> =
    names<gym::plan::ParameterKind>({{gym::plan::ParameterKind::parameter, "parameter"},
                                     {gym::plan::ParameterKind::buffer, "buffer"}});

}  // namespace tritonsmith
