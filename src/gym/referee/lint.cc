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

// The reference's answer to one draw.
struct Sample {
  TensorTable tensors, oracle;
};

class Linter {
 public:
  Linter(const LintSetting& setting, KernelExecutor& executor)
      : setting_(setting), executor_(executor), inputs_(input_tensors(setting.task)) {
    append_tensors(setting.task.outputs, outputs_);
  }

  std::vector<Finding> lint() {
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

 private:
  using MakeAnswer = std::function<at::Tensor(std::size_t output, const at::Tensor& expected)>;

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
    if (stop) stop_message_ = stop->error.message;
    return stop.has_value();
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
    Sample sample;
    if (!other) sample.oracle = in_doubles(reference.tensors());
    if (stopped(reference.run(Phase::forward))) return std::nullopt;
    sample.tensors = reference.tensors();
    return is_finite(sample) ? std::optional(std::move(sample)) : std::nullopt;
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

  bool is_finite(Sample& sample) {
    const bool finite = std::ranges::all_of(outputs_, [&](int index) {
      const at::Tensor& output = at_index(sample.tensors, index);
      return !output.is_floating_point() || at::isfinite(output).all().item<bool>();
    });
    if (!finite) stop_message_ = "its outputs are not finite";
    return finite;
  }

  double tolerance_for(Sample& sample) const {
    double widest = 0;
    std::vector<int> all = inputs_;
    all.insert(all.end(), outputs_.begin(), outputs_.end());
    for (const int index : all)
      widest = std::max(widest, tolerance_of(at_index(sample.tensors, index).scalar_type()));
    return setting_.tolerance ? std::min(widest, *setting_.tolerance) : widest;
  }

  // Whether these answers would be taken for right on every draw from `first` on.
  bool passes(std::size_t first, const MakeAnswer& make) {
    for (std::size_t draw = first; draw < samples_.size(); ++draw) {
      Sample& sample = samples_[draw];
      const CompareOptions how{.tolerance = tolerance_for(sample)};
      for (std::size_t k = 0; k < outputs_.size(); ++k) {
        const at::Tensor& expected = at_index(sample.tensors, outputs_[k]);
        const at::Tensor exact =
            sample.oracle.empty() ? at::Tensor() : at_index(sample.oracle, outputs_[k]);
        Numerics ignored;
        const at::Tensor answer = make(k, expected).contiguous();
        if (compare_tensors("output", answer, expected.contiguous(), exact, how, ignored))
          return false;
      }
    }
    return true;
  }

  void find_cheap_answers() {
    const bool empty = std::ranges::all_of(
        outputs_, [&](int index) { return at_index(samples_[0].tensors, index).numel() == 0; });
    if (outputs_.empty() || empty) return find("task_zeros_pass", "the task has no output");
    const auto zeros = [](std::size_t, const at::Tensor& expected) {
      return at::zeros_like(expected);
    };
    const auto known = [&](std::size_t k) -> at::Tensor& {
      return at_index(samples_[0].tensors, outputs_[k]);
    };
    const auto mean = [&](std::size_t k, const at::Tensor& expected) {
      if (known(k).numel() == 0) return at::zeros_like(expected);
      const double value = known(k).to(at::kDouble).mean().item<double>();
      return at::full_like(expected, value);
    };
    const auto replayed = [&](std::size_t k, const at::Tensor& expected) {
      return known(k).sizes() == expected.sizes() ? known(k) : at::zeros_like(expected);
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
      const bool ignored = std::ranges::all_of(outputs_, [&](int index) {
        return at::equal(at_index(other->tensors, index), at_index(samples_[0].tensors, index));
      });
      if (ignored && !outputs_.empty())
        find("task_ignores_input", fmt::format("the output does not depend on input {}", k));
    }
  }

  // On the task's own inputs. A right kernel that rounds elsewhere is then as far off, and refused.
  void find_lost_digits() {
    Sample& sample = samples_[0];
    if (sample.oracle.empty()) return;
    double error = 0;
    for (const int index : outputs_)
      if (at_index(sample.tensors, index).numel() > 0)
        error = std::max(
            error, own_error(at_index(sample.tensors, index), at_index(sample.oracle, index)));
    const double tolerance = tolerance_for(sample);
    if (std::isfinite(error) && error > tolerance)
      find("task_loses_digits",
           fmt::format(
               "PyTorch's own rounding is {:.2g} of the output's size, the tolerance {:.2g}: "
               "right kernels may be refused",
               error, tolerance));
  }

  const LintSetting& setting_;
  KernelExecutor& executor_;
  std::vector<int> inputs_, outputs_;
  std::vector<Sample> samples_;
  std::vector<Finding> findings_;
  std::string stop_message_;
  bool unchanged_draw_ = false;
};

}  // namespace

std::vector<Finding> lint_task(const LintSetting& setting, KernelExecutor& executor) {
  ReplayMemory& memory = ReplayMemory::instance();
  memory.begin(Filler::zero, setting.memory_bytes);
  std::vector<Finding> findings = Linter(setting, executor).lint();
  memory.end();
  return findings;
}

}  // namespace tritonsmith::gym
