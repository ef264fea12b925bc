#include "gym/referee/lint.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gym/compare/compare.h"
#include "gym/plan/analysis/cost/plan_needs.h"
#include "gym/plan/analysis/tensor_names.h"
#include "gym/referee/protocol/not_linted.h"
#include "gym/trial/perturb/input_changes.h"

namespace tritonsmith::gym::referee {
namespace {

constexpr std::string_view kLate = "its reference did not finish within the time limit";

constexpr auto kKinds =
    std::to_array<trial::Perturbation>({trial::Perturbation::plain, trial::Perturbation::scaled,
                                        trial::Perturbation::sparse, trial::Perturbation::plain});

// Outputs with more elements are first compared at some elements, and only then at all.
constexpr std::int64_t kFewElements = 1 << 20, kGlance = 1 << 16;

enum class Exactness { as_written, with_float64 };

// The reference's outputs for one draw.
struct Sample {
  int draw = 0;
  tensors::TensorTable outputs;
  tensors::TensorTable exact;  // in float64, one for each output; undefined where not known
  bool has_exact = false;
  compare::CompareOptions how;
};

// An answer that takes no work: one value for each output, or the outputs of another draw.
struct CheapAnswer {
  std::vector<double> values;
  tensors::TensorTable replayed;

  // Returns the answer for the elements of output k, flattened, from `first` on.
  at::Tensor like(const at::Tensor& expected, std::size_t k, std::int64_t first) const {
    // Python code that looks at values may return other tensors for another draw.
    const bool fits = k < replayed.size() && replayed[k].scalar_type() == expected.scalar_type() &&
                      replayed[k].numel() >= first + expected.numel();
    if (fits) return replayed[k].contiguous().flatten().narrow(0, first, expected.numel());
    return at::full_like(expected, k < values.size() ? values[k] : 0.0);
  }
};

bool all_finite(const at::Tensor& tensor) {
  if (!tensor.is_floating_point() || tensor.numel() == 0) return true;
  const auto [least, greatest] = at::aminmax(tensors::computable(tensor));
  return std::isfinite(least.item<double>()) && std::isfinite(greatest.item<double>());
}

bool is_large(const at::Tensor& output) {
  return output.is_floating_point() && output.element_size() > 1 && output.numel() > kFewElements;
}

class Linter {
 public:
  Linter(const LintSetting& setting, language::KernelExecutor& executor, device::Device& device)
      : setting_(setting),
        executor_(executor),
        device_(device),
        with_oracle_(plan::analysis::lint_bytes(setting.task) +
                         plan::analysis::oracle_bytes(setting.task) <=
                     capacity()),
        inputs_(trial::input_tensors(setting.task)) {
    plan::append_tensors(setting.task.outputs, outputs_);
  }

  LintReport lint() {
    if (const double needed = plan::analysis::lint_bytes(setting_.task); needed > capacity())
      stop_message_ = fmt::format("it needs {:.1f} GiB of memory, {:.1f} are there for it",
                                  needed / (1 << 30), capacity() / (1 << 30));
    else
      look();
    if (!stop_message_.empty()) report_.findings.push_back(not_linted(stop_message_));
    return std::move(report_);
  }

 private:
  double capacity() const { return static_cast<double>(device_.capacity(setting_.memory_bytes)); }

  void look() {
    const Sample* first = sample(0, Exactness::with_float64);
    if (first == nullptr) return;
    known_ = first->outputs;
    find_lost_digits(*first);
    find_cheap_answers();
    if (stop_message_.empty()) find_ignored_inputs();
  }

  at::Tensor& at_index(tensors::TensorTable& tensors, int index) const {
    return tensors.at(static_cast<std::size_t>(index));
  }

  void find(std::string rule, std::string message, Severity severity = Severity::warn) {
    report_.findings.push_back(
        {.rule = std::move(rule), .severity = severity, .message = std::move(message)});
  }

  // Remembers why there is no answer to a draw.
  bool stopped(const std::optional<replay::Stop>& stop) {
    if (!stop) return false;
    const bool is_late =
        setting_.deadline.passed() && stop->error.error_class == ErrorClass::too_large_to_evaluate;
    why_ = is_late ? std::string(kLate) : stop->error.message;
    report_.is_final = report_.is_final && stop->fault != Fault::infrastructure;
    return true;
  }

  void seed(std::string_view purpose, int draw) {
    device_.seed(trial::trial_seed(setting_.secret, purpose, draw));
  }

  // Returns the sample of a draw, and keeps the last one. Returns null if the linter must stop
  // here. It also returns null if the task cannot take this changed draw; then the judge does not
  // use it either.
  const Sample* sample(int draw, Exactness exactness) {
    const bool exact = exactness == Exactness::with_float64 && with_oracle_;
    if (!sample_ || sample_->draw != draw || (exact && !sample_->has_exact)) {
      sample_.reset();
      sample_ = answer_to(draw, exact);
    }
    if (sample_) return &*sample_;
    if (kKinds.at(static_cast<std::size_t>(draw)) == trial::Perturbation::plain ||
        setting_.deadline.passed() || !report_.is_final)
      stop_message_ = why_;
    return nullptr;
  }

  // Draws as a trial does. With `other` set, this one input comes from a draw of its own.
  std::optional<Sample> answer_to(int draw, bool with_exact, std::optional<int> other = {}) {
    const trial::Perturbation kind = kKinds.at(static_cast<std::size_t>(draw));
    if (setting_.takes && !setting_.takes(kind)) {
      why_ = "PyTorch refuses the changed inputs";
      return std::nullopt;
    }
    replay::Replay reference(setting_.task, executor_,
                             {.deadline = setting_.deadline, .device = &device_});
    seed("lint init", draw);
    if (stopped(reference.run(plan::Phase::init))) return std::nullopt;
    const c10::InferenceMode no_gradients(true);
    if (other) {
      seed("lint other inputs", draw);
      if (stopped(reference.run(plan::Phase::inputs))) return std::nullopt;
    }
    const at::Tensor replaced = other ? at_index(reference.tensors(), *other) : at::Tensor();
    seed("lint inputs", draw);
    Rng rng(trial::trial_seed(setting_.secret, "lint perturb", draw), "perturb", 0);
    const auto changes = trial::InputChanges(setting_.task).draw_changes(kind, rng);
    if (stopped(reference.run(plan::Phase::inputs, [&](std::size_t step) {
          trial::change_draw(changes, step, setting_.task, reference.tensors());
        })))
      return std::nullopt;
    if (other) {
      unchanged_draw_ = at::equal(replaced, at_index(reference.tensors(), *other));
      reference.bind(*other, replaced);
    }
    seed("lint perturb", draw);
    trial::perturb_inputs(setting_.task, kind, rng, reference.tensors());
    auto sample = setting_.python_reference != nullptr
                      ? by_python_reference(draw, with_exact, reference.tensors())
                      : by_plan(with_exact, reference);
    if (!sample) return std::nullopt;
    if (!std::ranges::all_of(sample->outputs, all_finite)) {
      why_ = "its outputs are not finite";
      return std::nullopt;
    }
    sample->draw = draw;
    sample->has_exact = with_exact;
    sample->how = {.rule = setting_.comparison,
                   .tolerance = tolerance_for(reference.tensors(), sample->outputs),
                   .unit = kind == trial::Perturbation::plain ? compare::AbsoluteUnit::one
                                                              : compare::AbsoluteUnit::output_size,
                   .device = device_.comparison()};
    return sample;
  }

  std::optional<Sample> by_plan(bool with_exact, replay::Replay& reference) {
    tensors::TensorTable exact;
    if (with_exact) exact = in_doubles(reference.tensors());
    if (const auto stop = reference.run(plan::Phase::forward)) {
      if (trial::does_not_replay(*stop)) report_.refusal = stop->error;
      stopped(stop);
      return std::nullopt;
    }
    Sample sample;
    for (const int index : outputs_) {
      sample.outputs.push_back(at_index(reference.tensors(), index));
      sample.exact.push_back(exact.empty() ? at::Tensor() : at_index(exact, index));
    }
    return sample;
  }

  std::optional<Sample> by_python_reference(int draw, bool with_exact,
                                            const tensors::TensorTable& drawn) {
    if (setting_.deadline.passed()) {
      why_ = kLate;
      return std::nullopt;
    }
    auto answer = setting_.python_reference->run(
        {.task = setting_.task,
         .tensors = drawn,
         .mode = setting_.mode,
         .init_seed = trial::trial_seed(setting_.secret, "lint init", draw),
         .forward_seed = trial::trial_seed(setting_.secret, "lint forward", draw),
         .with_oracle = with_exact});
    if (!answer) {
      stopped(answer.error());
      return std::nullopt;
    }
    std::vector<int> outputs;
    plan::append_tensors(answer->outputs, outputs);
    const auto here = [&](const at::Tensor& tensor) {
      return tensor.defined() ? tensor.to(device_.torch_device()) : tensor;
    };
    Sample sample;
    for (const int index : outputs) {
      sample.outputs.push_back(here(at_index(answer->tensors, index)));
      sample.exact.push_back(here(at_index(answer->exact, index)));
    }
    return sample;
  }

  tensors::TensorTable in_doubles(const tensors::TensorTable& drawn) {
    replay::Replay oracle(setting_.task, executor_,
                          {.precision = replay::Precision::float64,
                           .deadline = setting_.deadline,
                           .device = &device_});
    for (std::size_t k = 0; k < drawn.size(); ++k)
      if (drawn[k].defined())
        oracle.tensors()[k] =
            drawn[k].is_floating_point() ? drawn[k].to(at::kDouble, false, true) : drawn[k].clone();
    return oracle.run(plan::Phase::forward) ? tensors::TensorTable() : std::move(oracle.tensors());
  }

  compare::Tolerance tolerance_for(const tensors::TensorTable& drawn,
                                   const tensors::TensorTable& outputs) const {
    std::vector<int> indices = inputs_;
    for (const plan::PlanParameter& parameter : setting_.task.parameters)
      indices.push_back(parameter.tensor);
    compare::Tolerance widest;
    const auto widen = [&](const at::Tensor& tensor) {
      widest = compare::wider_of(widest, compare::tolerance_of(tensor.scalar_type()));
    };
    for (const int index : indices) widen(drawn.at(static_cast<std::size_t>(index)));
    for (const at::Tensor& output : outputs) widen(output);
    return compare::tightened(widest, setting_.tolerance);
  }

  // Says whether the answer would pass on every draw from `first` on.
  bool stands(const CheapAnswer& answer, int first) {
    for (int draw = first; draw < std::ssize(kKinds); ++draw) {
      // Most answers fail at the first few elements.
      const bool is_young = draw == first && first > 0 && std::ranges::any_of(known_, is_large);
      const Sample* against =
          sample(draw, is_young ? Exactness::as_written : Exactness::with_float64);
      if (!stop_message_.empty()) return false;
      if (against == nullptr) continue;
      if (is_refuted_at_a_glance(answer, *against)) return false;
      if (is_young && (against = sample(draw, Exactness::with_float64)) == nullptr) return false;
      if (!passes(answer, *against)) return false;
    }
    return true;
  }

  // Compares some elements only. Elements of a large output pass by the plain tolerance alone.
  bool is_refuted_at_a_glance(const CheapAnswer& answer, const Sample& sample) const {
    for (std::size_t k = 0; k < sample.outputs.size(); ++k) {
      const at::Tensor& output = sample.outputs[k];
      if (!is_large(output)) continue;
      double unit = 1;
      if (sample.how.unit == compare::AbsoluteUnit::output_size)
        unit = std::max(
            1.0,
            at::linalg_vector_norm(output, 2, c10::nullopt, false, at::kDouble).item<double>() /
                std::sqrt(static_cast<double>(output.numel())));
      const at::Tensor flat = output.contiguous().flatten();
      for (const std::int64_t first : {std::int64_t{0}, (flat.numel() - kGlance) / 2}) {
        const at::Tensor part = flat.narrow(0, first, kGlance);
        const at::Tensor expected = part.to(at::kDouble);
        const at::Tensor off = (answer.like(part, k, first).to(at::kDouble) - expected).abs_();
        const at::Tensor limit = (expected.abs() + unit).mul_(sample.how.tolerance.value);
        if (off.gt(limit).any().item<bool>()) return true;
      }
    }
    return false;
  }

  bool passes(const CheapAnswer& answer, const Sample& sample) const {
    for (std::size_t k = 0; k < sample.outputs.size(); ++k) {
      const at::Tensor expected = sample.outputs[k].contiguous().flatten();
      const at::Tensor& exact = sample.exact[k];
      Numerics ignored;
      if (compare::compare_tensors("output", answer.like(expected, k, 0), expected,
                                   exact.defined() ? exact.contiguous().flatten() : exact,
                                   sample.how, ignored))
        return false;
    }
    return true;
  }

  void find_cheap_answers() {
    const auto is_empty = [](const at::Tensor& output) { return output.numel() == 0; };
    if (std::ranges::all_of(known_, is_empty))
      return find("task_zeros_pass", "the task has no output");
    if (stands({}, 0))
      return find("task_zeros_pass",
                  "an output of zeros is within the tolerance, whatever the inputs");
    CheapAnswer mean;
    for (const at::Tensor& output : known_)
      mean.values.push_back(
          is_empty(output)
              ? 0
              : at::mean(at::real(tensors::computable(output)), at::kDouble).item<double>());
    if (stop_message_.empty() && stands(mean, 1))
      return find("task_constant_passes",
                  "one constant is within the tolerance, whatever the inputs");
    if (stop_message_.empty() && stands({.replayed = known_}, 1))
      find("task_replay_passes",
           "the output for other inputs is within the tolerance, whatever the inputs");
  }

  void find_ignored_inputs() {
    sample_.reset();  // the next step needs its memory
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const auto other = answer_to(0, false, inputs_[k]);
      if (!other && (setting_.deadline.passed() || !report_.is_final)) {
        stop_message_ = fmt::format("whether {} matters was not seen: {}", input_name(k), why_);
        return;
      }
      if (!other || unchanged_draw_) continue;
      const tensors::TensorTable& now = other->outputs;
      const bool ignored =
          std::ranges::equal(now, known_, [](const at::Tensor& one, const at::Tensor& another) {
            return one.sizes() == another.sizes() && at::equal(one, another);
          });
      if (ignored && !now.empty())
        find("task_ignores_input", fmt::format("the output does not depend on {}", input_name(k)));
    }
  }

  std::string input_name(std::size_t k) const {
    return plan::analysis::input_names(setting_.task).at(k);
  }

  double error_of(const at::Tensor& output, const at::Tensor& exact) const {
    compare::DeviceComparison* device = device_.comparison();
    const bool on_device = device != nullptr && output.is_floating_point() && exact.defined() &&
                           exact.sizes() == output.sizes();
    return on_device ? device->measure(output, exact).own_error : compare::own_error(output, exact);
  }

  // Uses the task's own inputs. A correct kernel that rounds elsewhere is then as far off as
  // PyTorch. It is accepted if it is about as exact as PyTorch (compare.h).
  void find_lost_digits(const Sample& sample) {
    double error = 0;
    for (std::size_t k = 0; k < sample.outputs.size(); ++k)
      if (sample.outputs[k].numel() > 0)
        error = std::max(error, error_of(sample.outputs[k], sample.exact[k]));
    if (!std::isfinite(error) || error <= sample.how.tolerance.value) return;
    const std::string_view cause =
        compare::is_coarse(sample.how.tolerance.widest)
            ? "this is usual in 16 bits, because PyTorch rounds after each operator: "
            : "";
    find("task_loses_digits",
         fmt::format(
             "{}PyTorch's own result is {:.2g} of the output's size away from the exact one, "
             "more than the tolerance of {:.2g}; kernels that are about as exact as PyTorch "
             "are accepted all the same",
             cause, error, sample.how.tolerance.value),
         Severity::note);
  }

  const LintSetting& setting_;
  language::KernelExecutor& executor_;
  device::Device& device_;
  bool with_oracle_;
  std::vector<int> inputs_, outputs_;
  tensors::TensorTable known_;  // the outputs of the first draw
  std::optional<Sample> sample_;
  LintReport report_;
  std::string why_, stop_message_;
  bool unchanged_draw_ = false;
};

}  // namespace

LintReport lint_task(const LintSetting& setting, language::KernelExecutor& executor,
                     device::Device& device) {
  device.begin(tensors::Filler::zero, setting.memory_bytes);
  LintReport report = Linter(setting, executor, device).lint();
  const auto fault = device.wait(setting.deadline);  // the device reports its faults late
  device.end();
  if (fault) return {.findings = {not_linted(fault->message)}};  // a repeated run would fail alike
  return report;
}

}  // namespace tritonsmith::gym::referee
