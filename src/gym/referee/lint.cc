#include "gym/referee/lint.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "gym/referee/compare.h"
#include "gym/referee/replay_memory.h"

namespace tritonsmith::gym {
namespace {

constexpr auto kKinds = std::to_array<TrialKind>(
    {TrialKind::plain, TrialKind::scaled, TrialKind::sparse, TrialKind::plain});

// The reference's answer to one draw, tensor by tensor.
struct Sample {
  TensorTable outputs;
  TensorTable exact;  // in float64, undefined where that is not known; as many
  double tolerance = 0;
};

class Linter {
 public:
  Linter(const LintSetting& setting, KernelExecutor& executor)
      : setting_(setting), executor_(executor), inputs_(input_tensors(setting.task)) {
    append_tensors(setting.task.outputs, outputs_);
  }

  LintReport lint() {
    std::vector<Finding> findings = look();
    return {.findings = std::move(findings), .is_final = is_final_};
  }

 private:
  using MakeAnswer = std::function<at::Tensor(std::size_t output, const at::Tensor& expected)>;

  std::vector<Finding> look() {
    for (std::size_t draw = 0; draw < kKinds.size(); ++draw) {
      auto sample = answer_to(static_cast<int>(draw), kKinds[draw]);
      if (!sample) {
        // A perturbed draw that the task cannot take is not drawn by the judge either.
        if (kKinds[draw] == TrialKind::plain) return {not_linted()};
        continue;
      }
      samples_.push_back(*std::move(sample));
    }
    find_cheap_answers();
    find_ignored_inputs();
    find_lost_digits();
    return std::move(findings_);
  }

  at::Tensor& at_index(TensorTable& tensors, int index) const {
    return tensors.at(static_cast<std::size_t>(index));
  }

  Finding not_linted() const {
    return {.rule = "task_not_linted", .severity = Severity::note, .message = stop_message_};
  }
  void find(std::string rule, std::string message) {
    findings_.push_back(
        {.rule = std::move(rule), .severity = Severity::warn, .message = std::move(message)});
  }

  bool stopped(const std::optional<Stop>& stop) {
    if (!stop) return false;
    stop_message_ = stop->error.message;
    is_final_ = is_final_ && stop->fault != Fault::infrastructure;
    return true;
  }

  // Draws as a trial does. With `other` set, this one input comes from a draw of its own.
  std::optional<Sample> answer_to(int draw, TrialKind kind, std::optional<int> other = {}) {
    Replay reference(setting_.task, executor_, {.deadline = setting_.deadline});
    Replay::seed(trial_seed(setting_.secret, "lint init", draw));
    if (stopped(reference.run(Phase::init))) return std::nullopt;
    const c10::InferenceMode no_gradients(true);
    if (other) {
      Replay::seed(trial_seed(setting_.secret, "lint other inputs", draw));
      if (stopped(reference.run(Phase::inputs))) return std::nullopt;
    }
    const at::Tensor replaced = other ? at_index(reference.tensors(), *other) : at::Tensor();
    Replay::seed(trial_seed(setting_.secret, "lint inputs", draw));
    if (stopped(reference.run(Phase::inputs))) return std::nullopt;
    if (other) {
      unchanged_draw_ = at::equal(replaced, at_index(reference.tensors(), *other));
      reference.bind(*other, replaced);
    }
    Rng rng(trial_seed(setting_.secret, "lint perturb", draw), "perturb", 0);
    Replay::seed(trial_seed(setting_.secret, "lint perturb", draw));
    perturb_inputs(setting_.task, kind, rng, reference.tensors());
    const bool with_exact = !other;
    auto sample = setting_.shell != nullptr ? by_shell(draw, with_exact, reference.tensors())
                                            : by_plan(with_exact, reference);
    if (!sample || !is_finite(*sample)) return std::nullopt;
    sample->tolerance = tolerance_for(reference.tensors(), sample->outputs);
    return sample;
  }

  std::optional<Sample> by_plan(bool with_exact, Replay& reference) {
    TensorTable exact;
    if (with_exact) exact = in_doubles(reference.tensors());
    if (stopped(reference.run(Phase::forward))) return std::nullopt;
    Sample sample;
    for (const int index : outputs_) {
      sample.outputs.push_back(at_index(reference.tensors(), index));
      sample.exact.push_back(exact.empty() ? at::Tensor() : at_index(exact, index));
    }
    return sample;
  }

  std::optional<Sample> by_shell(int draw, bool with_exact, const TensorTable& drawn) {
    if (setting_.deadline.passed()) {
      stop_message_ = "no time is left for it";
      return std::nullopt;
    }
    auto answer =
        setting_.shell->run({.task = setting_.task,
                             .tensors = drawn,
                             .mode = setting_.mode,
                             .init_seed = trial_seed(setting_.secret, "lint init", draw),
                             .forward_seed = trial_seed(setting_.secret, "lint forward", draw),
                             .with_oracle = with_exact});
    if (!answer) {
      stopped(answer.error());
      return std::nullopt;
    }
    std::vector<int> outputs;
    append_tensors(answer->outputs, outputs);
    Sample sample;
    for (const int index : outputs) {
      sample.outputs.push_back(at_index(answer->tensors, index));
      sample.exact.push_back(at_index(answer->exact, index));
    }
    return sample;
  }

  TensorTable in_doubles(const TensorTable& drawn) {
    Replay oracle(setting_.task, executor_,
                  {.precision = Precision::float64, .deadline = setting_.deadline});
    for (std::size_t k = 0; k < drawn.size(); ++k)
      if (drawn[k].defined())
        oracle.tensors()[k] =
            drawn[k].is_floating_point() ? drawn[k].to(at::kDouble, false, true) : drawn[k].clone();
    return oracle.run(Phase::forward) ? TensorTable() : std::move(oracle.tensors());
  }

  bool is_finite(const Sample& sample) {
    const bool finite = std::ranges::all_of(sample.outputs, [](const at::Tensor& output) {
      return !output.is_floating_point() || at::isfinite(output).all().item<bool>();
    });
    if (!finite) stop_message_ = "its outputs are not finite";
    return finite;
  }

  double tolerance_for(TensorTable& drawn, const TensorTable& outputs) const {
    double widest = 0;
    for (const int index : inputs_)
      widest = std::max(widest, tolerance_of(at_index(drawn, index).scalar_type()));
    for (const at::Tensor& output : outputs)
      widest = std::max(widest, tolerance_of(output.scalar_type()));
    return setting_.tolerance ? std::min(widest, *setting_.tolerance) : widest;
  }

  // Whether these answers would be taken for right on every draw from `first` on.
  bool passes(std::size_t first, const MakeAnswer& make) const {
    for (std::size_t draw = first; draw < samples_.size(); ++draw) {
      const Sample& sample = samples_[draw];
      const CompareOptions how{.rule = setting_.comparison, .tolerance = sample.tolerance};
      for (std::size_t k = 0; k < sample.outputs.size(); ++k) {
        const at::Tensor& expected = sample.outputs[k];
        Numerics ignored;
        const at::Tensor answer = make(k, expected).contiguous();
        if (compare_tensors("output", answer, expected.contiguous(), sample.exact[k], how, ignored))
          return false;
      }
    }
    return true;
  }

  void find_cheap_answers() {
    const TensorTable& known = samples_[0].outputs;
    if (std::ranges::all_of(known, [](const at::Tensor& output) { return output.numel() == 0; }))
      return find("task_zeros_pass", "the task has no output");
    const auto zeros = [](std::size_t, const at::Tensor& expected) {
      return at::zeros_like(expected);
    };
    // Python that looks at values may return other tensors another time.
    const auto mean = [&](std::size_t k, const at::Tensor& expected) {
      if (k >= known.size() || known[k].numel() == 0) return at::zeros_like(expected);
      const double value = known[k].to(at::kDouble).mean().item<double>();
      return at::full_like(expected, value);
    };
    const auto replayed = [&](std::size_t k, const at::Tensor& expected) {
      const bool fits = k < known.size() && known[k].sizes() == expected.sizes() &&
                        known[k].scalar_type() == expected.scalar_type();
      return fits ? known[k] : at::zeros_like(expected);
    };
    if (passes(0, zeros))
      find("task_zeros_pass", "an output of zeros is within the tolerance, whatever the inputs");
    else if (passes(1, mean))
      find("task_constant_passes", "one constant is within the tolerance, whatever the inputs");
    else if (passes(1, replayed))
      find("task_replay_passes",
           "the output for other inputs is within the tolerance, whatever the inputs");
  }

  void find_ignored_inputs() {
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      auto other = answer_to(0, TrialKind::plain, inputs_[k]);
      if (!other || unchanged_draw_) continue;
      const TensorTable &now = other->outputs, &before = samples_[0].outputs;
      const bool ignored =
          std::ranges::equal(now, before, [](const at::Tensor& one, const at::Tensor& another) {
            return one.sizes() == another.sizes() && at::equal(one, another);
          });
      if (ignored && !now.empty())
        find("task_ignores_input", fmt::format("the output does not depend on input {}", k));
    }
  }

  // On the task's own inputs. A right kernel that rounds elsewhere is then as far off, and may be
  // refused.
  void find_lost_digits() {
    const Sample& sample = samples_[0];
    double error = 0;
    for (std::size_t k = 0; k < sample.outputs.size(); ++k)
      if (sample.outputs[k].numel() > 0)
        error = std::max(error, own_error(sample.outputs[k], sample.exact[k]));
    if (std::isfinite(error) && error > sample.tolerance)
      find("task_loses_digits",
           fmt::format(
               "PyTorch's own rounding is {:.2g} of the output's size, the tolerance {:.2g}: "
               "right kernels may be refused",
               error, sample.tolerance));
  }

  const LintSetting& setting_;
  KernelExecutor& executor_;
  std::vector<int> inputs_, outputs_;
  std::vector<Sample> samples_;
  std::vector<Finding> findings_;
  std::string stop_message_;
  bool unchanged_draw_ = false, is_final_ = true;
};

}  // namespace

LintReport lint_task(const LintSetting& setting, KernelExecutor& executor) {
  ReplayMemory& memory = ReplayMemory::instance();
  memory.begin(Filler::zero, setting.memory_bytes);
  LintReport report = Linter(setting, executor).lint();
  memory.end();
  return report;
}

}  // namespace tritonsmith::gym
