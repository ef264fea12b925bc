// Replay: one run of a plan, on the CPU or a GPU. Steps go through LibTorch's dispatcher
// (operators) and a KernelExecutor (launches); every failure comes back as a Stop with the line it
// came from. A plan is a stranger's: only replayable operators run, results are held against their
// declarations, memory is capped by ReplayMemory, and time between steps.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "gym/device/device.h"
#include "gym/language/kernel_executor.h"
#include "gym/plan/plan.h"
#include "gym/replay/choices.h"
#include "gym/replay/launch_trace.h"
#include "gym/replay/operator_arguments.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::replay {

// How long a candidate's forward may keep a GPU. Nothing that a model may write needs as much, and
// the GPU shall serve others again.
inline constexpr std::chrono::seconds kKernelPatience{5};

// Why a replay ended early.
struct Stop {
  VerdictError error;
  Fault fault = Fault::none;
};

// skipped: as if no kernel of the plan did anything.
enum class Launches { run, watched, skipped };

struct ReplayOptions {
  Precision precision = Precision::as_written;
  Choices choices;  // of tuned launches
  Deadline deadline = Deadline::never();
  Launches launches = Launches::run;
  device::Device* device = nullptr;  // none: the CPU
  // What PlanStep::draw follows from, beside its number.
  std::uint64_t draws_seed = 0;
};

// The tensors, each memory once, that forward made anew, its draws among them: the memory of
// inputs, of weights and of whatever was there before is not. Tensors beyond the plan's count as
// made.
std::vector<int> made_by_forward(const plan::Plan& plan, const tensors::TensorTable& tensors);

class Replay {
 public:
  Replay(const plan::Plan& plan, language::KernelExecutor& executor, ReplayOptions options);

  static void seed(std::uint64_t seed) { device::cpu_device().seed(seed); }

  void bind(int tensor, at::Tensor value);
  // Runs all steps of the phase in order; a Stop ends it. `after` is told each one's index.
  std::optional<Stop> run(plan::Phase phase, const std::function<void(std::size_t)>& after = {});
  // One step again, on what the tensors hold now.
  std::optional<Stop> run_step(std::size_t index);
  // What the draws that forward would make (PlanStep::draw) follow from, from now on.
  void seed_draws(std::uint64_t seed) { options_.draws_seed = seed; }
  // Those draws once more, into new memory: the same values until seed_draws() says otherwise.
  std::optional<Stop> draw_again();
  // Which alternative one tuned launch takes from now on, by the index of its step.
  void choose(std::size_t step, int choice) { options_.choices[step] = choice; }
  void keep_to(Deadline deadline) { options_.deadline = deadline; }
  // From now on operators' results that kernels are given lie where the operators put them, not in
  // fenced memory: for runs that are timed.
  void leave_fences() { fences_ = false; }

  const tensors::TensorTable& tensors() const { return tensors_; }
  tensors::TensorTable& tensors() { return tensors_; }
  // By index of the step; only launches that ran.
  const std::map<std::size_t, LaunchTrace>& launches() const { return launches_; }
  const std::vector<Finding>& findings() const { return findings_; }
  // Whether any operator was LibTorch's to run.
  bool ran_operators() const { return ran_operators_; }
  // Of watched launches: whether each only passed on values that it was given.
  bool only_copied() const { return watched_ > 0 && copies_ == watched_; }

 private:
  // What an operator of phase `inputs` draws, where the place has a quicker way.
  std::optional<at::Tensor> draw(const plan::PlanStep& step, const plan::AtenCall& call) const;
  std::optional<Stop> run_operator(const plan::PlanStep& step, const plan::AtenCall& call);
  std::optional<Stop> run_launch(std::size_t index, const plan::PlanStep& step,
                                 const plan::LaunchStep& launch);
  std::optional<Stop> make_constant(const plan::PlanStep& step, const plan::ConstantStep& constant);
  Result<language::KernelArgument> kernel_argument(const plan::Value& value) const;
  std::optional<Stop> keep_outputs(const plan::PlanStep& step, const plan::AtenCall& call,
                                   const c10::FunctionSchema& schema, torch::jit::Stack& stack);
  Status keep_output(int index, at::Tensor made, bool is_fresh, bool is_fenced = false);
  bool is_replaced(int index, const at::Tensor& made) const;
  bool is_alone(int index, const at::Tensor& made) const;

  const plan::Plan& plan_;
  // Whose declarations must hold: a launch, a parameter, an input or the output names them. What an
  // operator returns beside its result (saved statistics) may differ between devices.
  std::vector<bool> named_;
  std::vector<bool> launched_;  // whose memory a launch is given
  std::vector<bool> shared_;    // inputs and parameters
  language::KernelExecutor& executor_;
  ReplayOptions options_;
  tensors::TensorTable tensors_;
  std::map<std::size_t, LaunchTrace> launches_;
  std::vector<Finding> findings_;
  bool ran_operators_ = false, fences_ = true;
  int watched_ = 0, copies_ = 0;
};

}  // namespace tritonsmith::gym::replay
