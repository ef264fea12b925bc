#include "gym/language/triton/evaluator_executor.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/byte_cache.h"
#include "gym/triton_ir/kernel_program.h"

namespace tritonsmith::gym::language::triton {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

VerdictError error_at(ErrorClass error_class, std::string message, triton_ir::SourceLine at) {
  return {
      .error_class = error_class, .message = std::move(message), .excerpt = {}, .line = at.line};
}

// A launch's arguments in the evaluator's form. Each storage appears once, even if several
// arguments point into it.
struct Bound {
  triton_ir::Launch launch;
  std::vector<int> buffer_of;  // by argument; -1: a number
};

Bound bind_arguments(const plan::LaunchChoice& choice, std::span<const KernelArgument> arguments) {
  Bound bound;
  bound.launch.grid = choice.grid;
  for (const KernelArgument& argument : arguments) {
    bound.buffer_of.push_back(-1);
    if (const auto* number = std::get_if<std::int64_t>(&argument)) {
      bound.launch.arguments.emplace_back(*number);
    } else if (const auto* real = std::get_if<double>(&argument)) {
      bound.launch.arguments.emplace_back(*real);
    } else if (const auto* truth = std::get_if<bool>(&argument)) {
      bound.launch.arguments.emplace_back(static_cast<std::int64_t>(*truth));
    } else {
      const auto& buffer = std::get<KernelBuffer>(argument);
      auto at = std::ranges::find(bound.launch.buffers, buffer.storage, &triton_ir::Buffer::data);
      if (at == bound.launch.buffers.end())
        at = bound.launch.buffers.insert(at, {.data = buffer.storage,
                                              .bytes = buffer.storage_bytes,
                                              .tensor = buffer.tensor,
                                              .name = buffer.name,
                                              .element_bytes = buffer.element_bytes});
      bound.buffer_of.back() = static_cast<int>(at - bound.launch.buffers.begin());
      bound.launch.arguments.emplace_back(triton_ir::PointerArgument{
          bound.buffer_of.back(), static_cast<std::int64_t>(buffer.offset_bytes)});
    }
  }
  return bound;
}

// Returns " of `x`" for the buffer of this tensor, or nothing if the caller has no name for it.
std::string of_buffer(const Bound& bound, int tensor) {
  const auto at = std::ranges::find(bound.launch.buffers, tensor, &triton_ir::Buffer::tensor);
  const bool is_named = at != bound.launch.buffers.end() && !at->name.empty();
  return is_named ? fmt::format(" of {}", at->name) : "";
}

void report_double_writes(const triton_ir::LaunchReport& report, const Bound& bound,
                          std::vector<Finding>& findings) {
  for (const triton_ir::DoubleWrite& twice : report.double_writes) {
    const bool conflicting = twice.conflicting > 0;
    findings.push_back(
        {.rule = conflicting ? "race" : "written_twice",
         .severity = conflicting ? Severity::reject : Severity::note,
         .line = twice.at.line,
         .message =
             fmt::format("several programs write the same {} elements{}, {} of them with different "
                         "values (first element {}, program {}, {}, {})",
                         twice.elements, of_buffer(bound, twice.tensor), twice.conflicting,
                         twice.element, twice.program[0], twice.program[1], twice.program[2])});
  }
}

void report_shared_elements(const triton_ir::LaunchReport& report, const Bound& bound,
                            std::vector<Finding>& findings) {
  const auto add = [&](const triton_ir::SharedElement& shared, std::string rule,
                       Severity severity) {
    findings.push_back({.rule = std::move(rule),
                        .severity = severity,
                        .line = shared.at.line,
                        .message = fmt::format(
                            "programs of one launch read what others of it write: {} elements{} "
                            "(first element {}, program {}, {}, {})",
                            shared.elements, of_buffer(bound, shared.tensor), shared.element,
                            shared.program[0], shared.program[1], shared.program[2])});
  };
  for (const triton_ir::SharedElement& shared : report.shared_elements)
    add(shared, "race", Severity::reject);
  for (const triton_ir::SharedElement& shared : report.unclear_elements)
    add(shared, "shared_between_programs", Severity::note);
}

void report_false_hints(const triton_ir::LaunchReport& report, std::vector<Finding>& findings) {
  for (const triton_ir::FalseHint& hint : report.false_hints)
    findings.push_back({.rule = "false_hint",
                        .severity = Severity::note,
                        .line = hint.at.line,
                        .message = hint.message});
}

// The most programs of a kernel that a GPU of today runs at once: 148 multiprocessors (B200) with 64
// warps and 32 programs each.
std::size_t resident_programs(const plan::PlanKernel& kernel) {
  constexpr int multiprocessors = 148, warps = 64, most = 32;
  return static_cast<std::size_t>(multiprocessors *
                                  std::clamp(warps / std::max(kernel.num_warps, 1), 1, most));
}

// CHECKs that the launch did not run to its end.
ErrorClass class_of(triton_ir::LaunchStatus status) {
  using enum triton_ir::LaunchStatus;
  switch (status) {
    case completed:
      break;
    case out_of_bounds:
      return ErrorClass::out_of_bounds;
    case assertion_failed:
      return ErrorClass::assertion_failed;
    case waits_for_ever:
      return ErrorClass::race;
    case too_large_to_evaluate:
      return ErrorClass::too_large_to_evaluate;
    case not_evaluable:
      return ErrorClass::not_evaluable;
    case bad_launch:
      return ErrorClass::bad_launch;
  }
  check_failed(__FILE__, __LINE__, "class_of", "a launch that ran to its end has no error");
}

LaunchOutcome outcome_of(const triton_ir::LaunchReport& report, const Bound& bound) {
  LaunchOutcome outcome;
  report_double_writes(report, bound, outcome.findings);
  report_shared_elements(report, bound, outcome.findings);
  report_false_hints(report, outcome.findings);
  if (report.status != triton_ir::LaunchStatus::completed) {
    outcome.error = error_at(class_of(report.status), report.message, report.at);
    const bool nobodys = report.status == triton_ir::LaunchStatus::too_large_to_evaluate ||
                         report.status == triton_ir::LaunchStatus::not_evaluable;
    outcome.fault = nobodys ? Fault::none : Fault::candidate;
  }
  for (std::size_t k = 0; k < bound.buffer_of.size(); ++k) {
    const int buffer = bound.buffer_of[k];
    if (buffer < 0) continue;
    const auto index = static_cast<std::size_t>(buffer);
    // The evaluator does not report reads, so every buffer whose pointer was passed counts as read.
    outcome.loaded.push_back(static_cast<int>(k));
    if (index < report.elements_written.size() && report.elements_written[index] > 0)
      outcome.stored.push_back(static_cast<int>(k));
  }
  return outcome;
}

class EvaluateExecutor final : public KernelExecutor {
 public:
  explicit EvaluateExecutor(FreeBytes free_bytes) : free_bytes_(std::move(free_bytes)) {}

  LaunchOutcome launch(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                       std::span<const KernelArgument> arguments, Deadline deadline) override {
    const Result<triton_ir::KernelProgram>& program = program_of(kernel);
    if (!program)
      return {.error = error_at(ErrorClass::bad_plan, "Triton IR: " + program.error().message, {}),
              .fault = Fault::candidate};
    Bound bound = bind_arguments(choice, arguments);
    bound.launch.order = order_;
    bound.launch.rounding = rounding_;
    // The lanes of one warp run together.
    if (kernel.num_warps == 1 && order_.kind == ProgramOrder::Kind::lanes_apart)
      bound.launch.order = {};
    return outcome_of(triton_ir::evaluate(*program, bound.launch,
                                          {.deadline = deadline,
                                           .table_bytes = free_bytes_(),
                                           .resident_programs = resident_programs(kernel)}),
                      bound);
  }

  bool set_order(const ProgramOrder& order) override {
    order_ = order;
    return true;
  }
  bool set_rounding(const ResultRounding& rounding) override {
    rounding_ = rounding;
    return true;
  }

 private:
  const Result<triton_ir::KernelProgram>& program_of(const plan::PlanKernel& kernel) {
    if (const auto* known = programs_.find(kernel.code)) return **known;
    auto made =
        std::make_unique<Result<triton_ir::KernelProgram>>(triton_ir::parse_ttir(kernel.code));
    const std::size_t bytes = *made ? (*made)->code_bytes() : made->error().message.size();
    return *programs_.add(kernel.code, std::move(made), bytes);
  }

  ByteCache<std::unique_ptr<Result<triton_ir::KernelProgram>>> programs_{kKeptBytes};
  FreeBytes free_bytes_;
  ProgramOrder order_;
  ResultRounding rounding_;
};

}  // namespace

std::unique_ptr<KernelExecutor> make_evaluate_executor(FreeBytes free_bytes) {
  return std::make_unique<EvaluateExecutor>(std::move(free_bytes));
}

}  // namespace tritonsmith::gym::language::triton
