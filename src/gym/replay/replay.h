// Replay: one run of a plan on the CPU or a GPU. LibTorch's dispatcher runs the operators, and a
// KernelExecutor runs the launches. Every failure returns as a Stop with its source line. A plan is
// hostile data, so the replay runs only operators that the table allows, and checks each result
// against its declaration. ReplayMemory limits memory. The deadline is checked between steps.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "gym/device/device.h"
#include "gym/language/kernel_executor.h"
#include "gym/plan/analysis/tensor_names.h"
#include "gym/plan/plan.h"
#include "gym/replay/choices.h"
#include "gym/replay/launch_trace.h"
#include "gym/replay/operator_arguments.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::replay {

// The time that one forward of a candidate may keep a GPU busy. No reasonable kernel needs as much,
// and the GPU must serve other jobs.
inline constexpr std::chrono::seconds kKernelPatience{5};

// The reason why a replay ended early.
struct Stop {
  VerdictError error;
  Fault fault = Fault::none;
};

// run: launches run. watched: the replay also notes whether they only copied values.
// watched_for_scaling: the same, where a value times one number plus another counts as a copy.
// skipped: launches do nothing.
enum class Launches { run, watched, watched_for_scaling, skipped };

struct ReplayOptions {
  Precision precision = Precision::as_written;
  Choices choices;  // of tuned launches
  Deadline deadline = Deadline::never();
  Launches launches = Launches::run;
  device::Device* device = nullptr;  // null: the CPU
  // The seed of the draws that forward makes. Each draw also depends on its number, PlanStep::draw.
  std::uint64_t draws_seed = 0;
};

// Returns one tensor for each memory that forward made, including its draws. Memory of inputs,
// weights and earlier steps is left out. A tensor whose index the plan does not have counts as
// made.
std::vector<int> made_by_forward(const plan::Plan& plan, const tensors::TensorTable& tensors);

class Replay {
 public:
  Replay(const plan::Plan& plan, language::KernelExecutor& executor, ReplayOptions options);

  static void seed(std::uint64_t seed) { device::cpu_device().seed(seed); }

  void bind(int tensor, at::Tensor value);
  // Runs all steps of the phase in order until a Stop. Calls `after` with the index of each step.
  std::optional<Stop> run(plan::Phase phase, const std::function<void(std::size_t)>& after = {});
  // Runs one step again with the present tensors.
  std::optional<Stop> run_step(std::size_t index);
  // Sets the seed of the draws that forward makes (PlanStep::draw).
  void seed_draws(std::uint64_t seed) { options_.draws_seed = seed; }
  // Makes these draws again, into new memory. The values stay the same until the next seed_draws().
  std::optional<Stop> draw_again();
  // Chooses the config of one tuned launch, by the index of its step.
  void choose(std::size_t step, int choice) { options_.choices[step] = choice; }
  void keep_to(Deadline deadline) { options_.deadline = deadline; }
  // By default a result that a kernel will use moves to fenced memory (Device::fenced). From now on
  // it stays where the operator put it. Timed runs use this.
  void leave_fences() { fences_ = false; }

  const tensors::TensorTable& tensors() const { return tensors_; }
  tensors::TensorTable& tensors() { return tensors_; }
  // Returns the traces of the launches that ran, by the index of their step.
  const std::map<std::size_t, LaunchTrace>& launches() const { return launches_; }
  const std::vector<Finding>& findings() const { return findings_; }
  // Tells whether LibTorch ran any operator.
  bool ran_operators() const { return ran_operators_; }
  // Tells whether every watched launch only copied values that it was given.
  bool only_copied() const { return watched_ > 0 && copies_ == watched_; }

 private:
  // Draws a tensor of phase `inputs`, if the device has a faster way than LibTorch.
  std::optional<at::Tensor> draw(const plan::PlanStep& step, const plan::AtenCall& call) const;
  std::optional<Stop> run_operator(const plan::PlanStep& step, const plan::AtenCall& call);
  std::optional<Stop> run_launch(std::size_t index, const plan::PlanStep& step,
                                 const plan::LaunchStep& launch);
  std::optional<Stop> make_constant(const plan::PlanStep& step, const plan::ConstantStep& constant);
  Result<language::KernelArgument> kernel_argument(const plan::Value& value);
  std::optional<Stop> keep_outputs(const plan::PlanStep& step, const plan::AtenCall& call,
                                   const c10::FunctionSchema& schema, torch::jit::Stack& stack);
  Status keep_output(int index, at::Tensor made, bool is_fresh, bool is_fenced = false);
  bool is_replaced(int index, const at::Tensor& made) const;
  bool is_alone(int index, const at::Tensor& made) const;

  const plan::Plan& plan_;
  // The tensors whose declarations must hold, because a launch, a parameter, an input or the output
  // names them. Other results of an operator, such as saved statistics, may differ between devices.
  std::vector<bool> named_;
  std::vector<bool> launched_;  // their memory is an argument of a launch
  std::vector<bool> shared_;    // inputs and parameters
  language::KernelExecutor& executor_;
  ReplayOptions options_;
  plan::analysis::TensorNames names_;
  tensors::TensorTable tensors_;
  // In float64 a view of a number's bits has memory of its own, so no later write reaches both. The
  // storages of the plan for which that is so.
  std::set<int> split_;
  std::map<std::size_t, LaunchTrace> launches_;
  std::vector<Finding> findings_;
  bool ran_operators_ = false, fences_ = true;
  int watched_ = 0, copies_ = 0;
};

}  // namespace tritonsmith::gym::replay
