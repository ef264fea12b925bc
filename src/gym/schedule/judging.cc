#include "gym/schedule/judging.h"

#include <algorithm>
#include <set>

namespace tritonsmith::gym {
namespace {

std::string line_of(const std::string& source, int line) {
  std::size_t begin = 0;
  for (int at = 1; at < line && begin != std::string::npos; ++at) {
    begin = source.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (line < 1 || begin == std::string::npos) return {};
  std::string text = source.substr(begin, source.find('\n', begin) - begin);
  text.erase(0, text.find_first_not_of(" \t"));
  constexpr std::size_t longest = 200;
  return text.substr(0, longest);
}

void set_error(Verdict& verdict, VerdictError error, Fault fault, const std::string& source) {
  if (error.excerpt.empty()) error.excerpt = line_of(source, error.line);
  verdict.error = std::move(error);
  verdict.fault = fault;
}

Verdict begin_verdict(const Judging& judging, const VerdictContext& context) {
  Verdict verdict;
  verdict.task_id = judging.job.task.id;
  const bool on_gpu = judging.job.backend == Backend::replay;
  verdict.backend = on_gpu ? Backend::replay : Backend::evaluate;
  verdict.policy = judging.job.policy;
  verdict.comparison = judging.job.comparison;
  verdict.stage = Stage::extracted;
  verdict.environment = on_gpu ? context.replay_environment : context.environment;
  verdict.findings = judging.inspection;
  verdict.stage_ms.emplace_back("queue", judging.queue_ms);
  if (judging.capture) {
    verdict.environment.jail_layers = judging.capture->jail_layers;
    for (const auto& [stage, ms] : judging.capture->stage_ms)
      verdict.stage_ms.emplace_back(stage == "queue" ? "wait_guest" : stage, ms);
  }
  return verdict;
}

int launches_of(const Plan& plan, std::size_t kernel) {
  int launches = 0;
  for (const PlanStep& step : plan.steps)
    if (const auto* launch = std::get_if<LaunchStep>(&step.action);
        launch != nullptr && step.phase == Phase::forward &&
        launch->choices.front().kernel == static_cast<int>(kernel))
      ++launches;
  return launches;
}

void count_operators(const Plan& plan, Verdict& verdict) {
  for (const PlanStep& step : plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    auto at = std::ranges::find(verdict.aten, call->op, &AtenReport::op);
    if (at == verdict.aten.end()) at = verdict.aten.insert(at, {.op = call->op});
    ++at->calls;
  }
}

bool is_passed_over(const Judging& judging, const CompileUnit& unit) {
  return std::ranges::all_of(unit.kernels, [&](std::size_t kernel) {
    return std::ranges::find(judging.passed_over, kernel) != judging.passed_over.end();
  });
}

// As Triton's own tuner has it: of what else fails it tells the user.
bool does_not_fit(const CompileUnit& unit) {
  const auto* failure =
      unit.outcome ? std::get_if<CandidateFailure>(&unit.outcome->result) : nullptr;
  return failure != nullptr && (failure->error.error_class == "out_of_resources" ||
                                failure->error.message.starts_with("ptxas"));
}

// False when one of them did not compile.
bool add_kernels(const Judging& judging, Verdict& verdict) {
  verdict.kernels.resize(judging.plan->kernels.size());
  double slowest = 0;
  bool all = true;
  for (const CompileUnit& unit : judging.units) {
    if (!unit.outcome) continue;
    for (const auto& [stage, ms] : unit.outcome->stage_ms)
      if (stage == "compile") slowest = std::max(slowest, ms);
    const auto* compiled = std::get_if<CompiledKernel>(&unit.outcome->result);
    if (const auto* failure = std::get_if<CandidateFailure>(&unit.outcome->result);
        failure != nullptr && all && !is_passed_over(judging, unit)) {
      VerdictError error = failure->error;
      if (error.line == 0) error.line = judging.plan->kernels.at(unit.kernels.front()).line;
      set_error(verdict, std::move(error), Fault::candidate, judging.job.kernel);
      all = false;
    }
    for (const std::size_t kernel : unit.kernels) {
      KernelReport& report = verdict.kernels.at(kernel);
      report.name = judging.plan->kernels[kernel].name;
      report.launches = launches_of(*judging.plan, kernel);
      if (compiled == nullptr) continue;
      report.registers = compiled->registers;
      report.spills = compiled->spills;
      report.shared_bytes = compiled->shared_bytes;
    }
  }
  verdict.stage_ms.emplace_back("compile", slowest);
  for (const std::size_t kernel : judging.passed_over)
    verdict.findings.push_back(
        {.rule = "autotune_passed_over",
         .severity = Severity::note,
         .line = judging.plan->kernels[kernel].line,
         .message = "a config needs more than the chip has, and is left out"});
  return all;
}

void add_timing(const PlanTiming& timing, Verdict& verdict) {
  verdict.stage = Stage::timed;
  verdict.time_ms = timing.candidate;
  if (timing.reference.n > 0) verdict.reference_ms = timing.reference;
  if (timing.candidate.median > 0 && timing.reference.n > 0)
    verdict.speedup = timing.reference.median / timing.candidate.median;
  verdict.coverage = timing.coverage;
  for (KernelReport& kernel : verdict.kernels) kernel.launches = 0;  // tuned ones may be others
  for (const StepTiming& step : timing.steps) {
    const auto kernel = static_cast<std::size_t>(std::max(step.kernel, 0));
    const auto aten = std::ranges::find(verdict.aten, step.op, &AtenReport::op);
    if (step.kernel >= 0 && kernel < verdict.kernels.size()) {
      verdict.kernels[kernel].launches = step.launches;
      verdict.kernels[kernel].device_us = step.device_us;
    } else if (aten != verdict.aten.end()) {
      aten->device_us = step.device_us;
    }
  }
}

void add_report(const RefereeReport& report, const Judging& judging, Verdict& verdict) {
  for (const Finding& finding : report.findings) verdict.findings.push_back(finding);
  for (const auto& [stage, ms] : report.stage_ms) verdict.stage_ms.emplace_back(stage, ms);
  verdict.reference = report.reference;
  if (!verdict.compiled) return;  // what ran here could not be launched on the chip
  verdict.numerics = report.numerics;
  verdict.correct = report.correct;
  if (report.ran) verdict.stage = Stage::ran;
  if (report.correct) verdict.stage = Stage::correct;
  if (report.correct && report.timing) add_timing(*report.timing, verdict);
  verdict.baselines = report.baselines;
  if (report.error) set_error(verdict, *report.error, report.fault, judging.job.kernel);
}

const CandidateFailure* capture_failure(const Judging& judging) {
  return judging.capture ? std::get_if<CandidateFailure>(&judging.capture->result) : nullptr;
}

}  // namespace

std::vector<CompileUnit> compile_units(const Plan& plan) {
  std::vector<CompileUnit> units;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const PlanKernel& kernel = plan.kernels[k];
    auto at = std::ranges::find_if(units, [&](const CompileUnit& unit) {
      return unit.request.ttir == kernel.ttir && unit.request.num_warps == kernel.num_warps &&
             unit.request.num_stages == kernel.num_stages &&
             unit.request.num_ctas == kernel.num_ctas && unit.request.maxnreg == kernel.maxnreg;
    });
    if (at == units.end())
      at = units.insert(at, {.request = {.ttir = kernel.ttir,
                                         .num_warps = kernel.num_warps,
                                         .num_stages = kernel.num_stages,
                                         .num_ctas = kernel.num_ctas,
                                         .maxnreg = kernel.maxnreg,
                                         .target = plan.target}});
    at->kernels.push_back(k);
  }
  return units;
}

void pass_over_configs(Judging& judging) {
  std::set<std::size_t> unfit;
  for (const CompileUnit& unit : judging.units)
    if (does_not_fit(unit)) unfit.insert(unit.kernels.begin(), unit.kernels.end());
  const auto is_unfit = [&](const LaunchChoice& choice) {
    return unfit.contains(static_cast<std::size_t>(choice.kernel));
  };
  if (unfit.empty()) return;
  Plan plan = *judging.plan;
  std::set<std::size_t> passed;
  for (PlanStep& step : plan.steps) {
    auto* launch = std::get_if<LaunchStep>(&step.action);
    if (launch == nullptr) continue;
    if (std::ranges::all_of(launch->choices, is_unfit)) return;  // nothing is left to launch
    for (const LaunchChoice& choice : launch->choices)
      if (is_unfit(choice)) passed.insert(static_cast<std::size_t>(choice.kernel));
    std::erase_if(launch->choices, is_unfit);
  }
  judging.passed_over.assign(passed.begin(), passed.end());
  judging.plan_json = to_line(to_json(plan));
  judging.plan = std::move(plan);
}

std::optional<std::vector<KernelBinary>> binaries_of(const Judging& judging) {
  std::vector<KernelBinary> kernels(judging.plan->kernels.size());
  for (const CompileUnit& unit : judging.units) {
    if (is_passed_over(judging, unit)) continue;
    const auto* compiled =
        unit.outcome ? std::get_if<CompiledKernel>(&unit.outcome->result) : nullptr;
    if (compiled == nullptr) return std::nullopt;
    for (const std::size_t kernel : unit.kernels)
      kernels.at(kernel) = {
          .cubin = compiled->cubin,
          .name = compiled->name,
          .num_warps = compiled->num_warps > 0 ? compiled->num_warps : unit.request.num_warps,
          .shared_bytes = compiled->shared_bytes,
          .scratch_bytes = compiled->scratch_bytes};
  }
  return kernels;
}

Ending ending_of(const Judging& judging) {
  const auto is_fault = [](const auto& outcome) {
    return std::holds_alternative<InfrastructureFault>(outcome.result);
  };
  const auto failed_with = [](const auto& outcome, std::string_view error_class) {
    const auto* failure = std::get_if<CandidateFailure>(&outcome.result);
    return failure != nullptr && !failure->undisturbed && failure->error.error_class == error_class;
  };
  bool fault = judging.capture && is_fault(*judging.capture);
  bool timeout = judging.capture && failed_with(*judging.capture, "timeout");
  for (const CompileUnit& unit : judging.units) {
    fault = fault || (unit.outcome && is_fault(*unit.outcome));
    timeout = timeout || (unit.outcome && failed_with(*unit.outcome, "compile_timeout"));
  }
  if (judging.referee) {
    const auto* failure = std::get_if<RefereeFailure>(&*judging.referee);
    const auto* report = std::get_if<RefereeReport>(&*judging.referee);
    fault = fault || (failure != nullptr && failure->kind != RefereeFailure::Kind::timeout) ||
            (report != nullptr && report->fault == Fault::infrastructure);
    timeout = timeout || (failure != nullptr && failure->kind == RefereeFailure::Kind::timeout) ||
              (report != nullptr && report->deadline_hit);
  }
  if (fault) return Ending::infrastructure;
  if (judging.capture && failed_with(*judging.capture, "killed")) return Ending::killed;
  return timeout ? Ending::deadline : Ending::verdict;
}

Verdict verdict_of(const Judging& judging, const VerdictContext& context) {
  Verdict verdict = begin_verdict(judging, context);
  if (!judging.capture) {  // inspection refused it
    const auto reason = std::ranges::find(judging.inspection, Severity::reject, &Finding::severity);
    CHECK(reason != judging.inspection.end(), "nothing was captured, though nothing refused it");
    const bool unreadable = reason->rule == "syntax_error";
    verdict.stage = unreadable ? Stage::extracted : Stage::parsed;
    set_error(verdict,
              {.error_class = unreadable ? "syntax_error" : "refused",
               .message = unreadable ? reason->message : reason->rule + ": " + reason->message,
               .line = reason->line},
              Fault::candidate, judging.job.kernel);
    return verdict;
  }
  if (const CandidateFailure* failure = capture_failure(judging)) {
    verdict.stage = failure->stage;
    set_error(verdict, failure->error, Fault::candidate, judging.job.kernel);
    return verdict;
  }
  if (!judging.plan) {  // the guest handed over something that is no plan
    verdict.stage = Stage::inspected;
    set_error(verdict, {.error_class = "bad_plan", .message = judging.plan_json}, Fault::candidate,
              judging.job.kernel);
    return verdict;
  }
  verdict.stage = Stage::captured;
  count_operators(*judging.plan, verdict);
  verdict.compiled = add_kernels(judging, verdict);
  if (verdict.compiled) verdict.stage = Stage::compiled;
  if (judging.referee) {
    if (const auto* report = std::get_if<RefereeReport>(&*judging.referee))
      add_report(*report, judging, verdict);
    else if (verdict.compiled)
      set_error(verdict,
                {.error_class = "too_large_to_evaluate",
                 .message = std::get<RefereeFailure>(*judging.referee).message},
                Fault::none, judging.job.kernel);
  }
  verdict.accepted = verdict.correct && !has_rejecting_finding(verdict);
  return verdict;
}

Verdict task_failure_verdict(const Judging& judging, const VerdictError& error,
                             const VerdictContext& context) {
  Verdict verdict = begin_verdict(judging, context);
  verdict.error =
      VerdictError{.error_class = "task_failed",
                   .message = fmt::format(
                       "the task itself cannot be judged: {}{}: {}", error.error_class,
                       error.line > 0 ? fmt::format(", line {}", error.line) : "", error.message)};
  return verdict;
}

Verdict infrastructure_verdict(const Judging& judging, const std::string& message,
                               const VerdictContext& context) {
  Verdict verdict = begin_verdict(judging, context);
  verdict.error = VerdictError{.error_class = "infrastructure", .message = message};
  verdict.fault = Fault::infrastructure;
  return verdict;
}

std::string infrastructure_message(const Judging& judging) {
  const auto said_by = [](const auto& outcome) -> std::string {
    const auto* fault = std::get_if<InfrastructureFault>(&outcome.result);
    return fault != nullptr ? fault->message : std::string();
  };
  std::string message = judging.capture ? said_by(*judging.capture) : "";
  for (const CompileUnit& unit : judging.units)
    if (message.empty() && unit.outcome) message = said_by(*unit.outcome);
  if (!message.empty() || !judging.referee) return message;
  if (const auto* failure = std::get_if<RefereeFailure>(&*judging.referee)) return failure->message;
  const auto& report = std::get<RefereeReport>(*judging.referee);
  return report.error ? report.error->message : "";
}

void start_over(Judging& judging) {
  judging.inspection.clear();
  judging.capture.reset();
  judging.plan.reset();
  judging.plan_json.clear();
  judging.units.clear();
  judging.passed_over.clear();
  judging.referee.reset();
  judging.pending = 0;
}

}  // namespace tritonsmith::gym
