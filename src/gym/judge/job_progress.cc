#include "gym/judge/job_progress.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/printable.h"
#include "data/failure.h"
#include "gym/compile/occupancy.h"
#include "gym/judge/advice.h"
#include "gym/language/registry/languages.h"

namespace tritonsmith::gym::judge {
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
  return std::string(first_bytes(text, longest));
}

void set_error(Verdict& verdict, VerdictError error, Fault fault, const std::string& source) {
  if (error.excerpt.empty()) error.excerpt = line_of(source, error.line);
  verdict.error = std::move(error);
  verdict.fault = fault;
}

Verdict begin_verdict(const JobProgress& progress, const VerdictContext& context) {
  Verdict verdict;
  verdict.task_id = progress.job.task.id;
  const bool on_gpu = progress.job.backend == Backend::replay;
  verdict.backend = on_gpu ? Backend::replay : Backend::evaluate;
  verdict.policy = progress.job.policy;
  verdict.comparison = progress.job.comparison;
  verdict.stage = Stage::extracted;
  verdict.environment = on_gpu ? context.replay_environment : context.environment;
  verdict.findings = progress.inspection;
  verdict.stage_ms.emplace_back("queue", progress.queue_ms);
  if (progress.capture) {
    verdict.environment.jail_layers = progress.capture->jail_layers;
    for (const auto& [stage, ms] : progress.capture->stage_ms)
      verdict.stage_ms.emplace_back(stage == "queue" ? "wait_guest" : stage, ms);
  }
  return verdict;
}

int launches_of(const plan::Plan& plan, std::size_t kernel) {
  int launches = 0;
  for (const plan::PlanStep& step : plan.steps)
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action);
        launch != nullptr && step.phase == plan::Phase::forward &&
        launch->choices.front().kernel == static_cast<int>(kernel))
      ++launches;
  return launches;
}

void count_operators(const plan::Plan& plan, Verdict& verdict) {
  for (const plan::PlanStep& step : plan.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward) continue;
    auto at = std::ranges::find(verdict.aten, call->op, &AtenReport::op);
    if (at == verdict.aten.end()) at = verdict.aten.insert(at, {.op = call->op});
    ++at->calls;
  }
}

bool is_passed_over(const JobProgress& progress, const CompileUnit& unit) {
  return std::ranges::all_of(unit.kernels, [&](std::size_t kernel) {
    return std::ranges::find(progress.passed_over, kernel) != progress.passed_over.end();
  });
}

const sandbox::CandidateFailure* compile_failure(const CompileUnit& unit) {
  return unit.outcome ? std::get_if<sandbox::CandidateFailure>(&unit.outcome->result) : nullptr;
}

const compile::CompiledKernel* compiled_kernel(const CompileUnit& unit) {
  return unit.outcome ? std::get_if<compile::CompiledKernel>(&unit.outcome->result) : nullptr;
}

// Says whether the kernel needs more of the chip than there is.
bool does_not_fit(const CompileUnit& unit) {
  const auto* failure = compile_failure(unit);
  return failure != nullptr &&
         language::language_of(unit.request.language).does_not_fit(failure->error);
}

std::set<std::size_t> unfit_kernels(const JobProgress& progress) {
  std::set<std::size_t> unfit;
  for (const CompileUnit& unit : progress.units)
    if (does_not_fit(unit)) unfit.insert(unit.kernels.begin(), unit.kernels.end());
  return unfit;
}

// Says what became of a kernel's edited PTX.
Finding edited_ptx(const CompileUnit& unit, const compile::CompiledKernel& compiled) {
  return {.rule = "edited_ptx",
          .severity = Severity::note,
          .message = fmt::format("the PTX of {} was edited: {} registers, {} spills{}{}", unit.name,
                                 compiled.registers, compiled.spills,
                                 compiled.instructions.empty() ? "" : "; ", compiled.instructions)};
}

// Returns the first autotune config whose kernel this is, as " (config 2: BLOCK: 64)".
std::string config_of(const plan::Plan& plan, std::size_t kernel) {
  for (const plan::PlanStep& step : plan.steps) {
    const auto* launch = std::get_if<plan::LaunchStep>(&step.action);
    if (launch == nullptr) continue;
    for (std::size_t c = 0; c < launch->choices.size(); ++c) {
      const plan::LaunchChoice& choice = launch->choices[c];
      if (choice.kernel == static_cast<int>(kernel) && !choice.config.empty())
        return fmt::format(" (config {}: {})", c + 1, choice.config);
    }
  }
  return {};
}

// Returns false if one of the kernels did not compile.
bool add_kernels(const JobProgress& progress, Verdict& verdict) {
  verdict.kernels.resize(progress.plan->kernels.size());
  double slowest = 0;
  bool all = true;
  for (const CompileUnit& unit : progress.units) {
    if (unit.outcome)
      for (const auto& [stage, ms] : unit.outcome->stage_ms)
        if (stage == "compile") slowest = std::max(slowest, ms);
    const auto* compiled = compiled_kernel(unit);
    if (const auto* failure = compile_failure(unit);
        failure != nullptr && all && !is_passed_over(progress, unit)) {
      VerdictError error = failure->error;
      if (error.line == 0) error.line = progress.plan->kernels.at(unit.kernels.front()).line;
      if (!failure->undisturbed)  // else it is about all kernels together
        error.message += config_of(*progress.plan, unit.kernels.front());
      set_error(verdict, std::move(error), Fault::candidate, progress.job.kernel);
      all = false;
    }
    for (const std::size_t kernel : unit.kernels) {
      KernelReport& report = verdict.kernels.at(kernel);
      report.name = progress.plan->kernels[kernel].name;
      report.launches = launches_of(*progress.plan, kernel);
      if (compiled == nullptr) continue;
      report.registers = compiled->registers;
      report.spills = compiled->spills;
      report.shared_bytes = compiled->shared_bytes;
      if (!progress.job.shows_ptx) continue;
      report.ptx = compiled->ptx;
      report.ptx_name = unit.name;
    }
  }
  for (const CompileUnit& unit : progress.units)
    if (const auto* compiled = compiled_kernel(unit);
        compiled != nullptr && !unit.request.ptx.empty())
      verdict.findings.push_back(edited_ptx(unit, *compiled));
  verdict.stage_ms.emplace_back("compile", slowest);
  for (const std::size_t kernel : progress.passed_over)
    verdict.findings.push_back(
        {.rule = "autotune_passed_over",
         .severity = Severity::note,
         .line = progress.plan->kernels[kernel].line,
         .message = "a config needs more than the chip has, and is left out"});
  return all;
}

void add_timing(const referee::PlanTiming& timing, const std::optional<Ceilings>& ceilings,
                Verdict& verdict) {
  verdict.stage = Stage::timed;
  verdict.time_ms = timing.candidate;
  if (timing.reference.n > 0) verdict.reference_ms = timing.reference;
  if (timing.candidate.median > 0 && timing.reference.n > 0)
    verdict.speedup = timing.reference.median / timing.candidate.median;
  verdict.coverage = timing.coverage;
  verdict.peak_bytes = timing.peak_bytes;
  verdict.reference_peak_bytes = timing.reference_peak_bytes;
  verdict.environment.clocks = timing.clocks;
  if (ceilings && timing.work.bytes > 0)
    verdict.speed_of_light = speed_of_light(timing.work, *ceilings, timing.candidate.median);
  // the tuned launches may be others
  for (KernelReport& kernel : verdict.kernels) kernel.launches = 0;
  for (const referee::StepTiming& step : timing.steps) {
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

// Tells which kernels that were timed leave most of a multiprocessor's slots for warps empty.
void note_low_occupancy(const JobProgress& progress, Verdict& verdict) {
  constexpr double low = 0.25;
  for (const CompileUnit& unit : progress.units) {
    const auto* compiled = compiled_kernel(unit);
    const bool is_launched = std::ranges::any_of(
        unit.kernels, [&](std::size_t kernel) { return verdict.kernels.at(kernel).launches > 0; });
    if (compiled == nullptr || !is_launched) continue;
    const compile::BlockNeeds block = {
        .warps = compiled->num_warps > 0 ? compiled->num_warps : unit.request.num_warps,
        .registers = compiled->registers,
        .shared_bytes = compiled->shared_bytes};
    const double share = compile::occupancy(block, progress.plan->target);
    if (share <= 0 || share >= low) continue;
    verdict.findings.push_back(
        {.rule = "low_occupancy",
         .severity = Severity::note,
         .line = progress.plan->kernels.at(unit.kernels.front()).line,
         .message = fmt::format("{} has an occupancy of {:.0f} %: a block of {} warps takes {} "
                                "registers a thread and {} bytes of shared memory",
                                unit.name, 100 * share, block.warps, block.registers,
                                block.shared_bytes)});
  }
}

// Drops what inspection noted about a line that the report rejects by the same rule. The plan says
// more: it knows the operator that ran.
void drop_repeated_notes(const std::vector<Finding>& reported, std::vector<Finding>& inspected) {
  std::erase_if(inspected, [&](const Finding& note) {
    return note.severity != Severity::reject && note.line > 0 &&
           std::ranges::any_of(reported, [&](const Finding& finding) {
             return finding.severity == Severity::reject && finding.rule == note.rule &&
                    finding.line == note.line;
           });
  });
}

void add_report(const referee::RefereeReport& report, const JobProgress& progress,
                const std::optional<Ceilings>& ceilings, Verdict& verdict) {
  drop_repeated_notes(report.findings, verdict.findings);
  for (const Finding& finding : report.findings) verdict.findings.push_back(finding);
  for (const auto& [stage, ms] : report.stage_ms) verdict.stage_ms.emplace_back(stage, ms);
  verdict.reference = report.reference;
  if (!verdict.compiled) return;  // the chip could not launch what ran here
  verdict.numerics = report.numerics;
  verdict.correct = report.correct;
  if (report.ran) verdict.stage = Stage::ran;
  if (report.correct) verdict.stage = Stage::correct;
  if (report.correct && report.timing) {
    add_timing(*report.timing, ceilings, verdict);
    note_low_occupancy(progress, verdict);
  }
  verdict.baselines = report.baselines;
  if (report.error) set_error(verdict, *report.error, report.fault, progress.job.kernel);
}

const sandbox::CandidateFailure* capture_failure(const JobProgress& progress) {
  return progress.capture ? std::get_if<sandbox::CandidateFailure>(&progress.capture->result)
                          : nullptr;
}

}  // namespace

std::vector<CompileUnit> compile_units(const plan::Plan& plan) {
  std::vector<CompileUnit> units;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const plan::PlanKernel& kernel = plan.kernels[k];
    auto at = std::ranges::find_if(units, [&](const CompileUnit& unit) {
      return unit.request.language == kernel.language && unit.request.code == kernel.code &&
             unit.request.num_warps == kernel.num_warps &&
             unit.request.num_stages == kernel.num_stages &&
             unit.request.num_ctas == kernel.num_ctas && unit.request.maxnreg == kernel.maxnreg &&
             unit.request.enable_fp_fusion == kernel.enable_fp_fusion;
    });
    if (at == units.end())
      at = units.insert(at, {.request = {.language = kernel.language,
                                         .code = kernel.code,
                                         .num_warps = kernel.num_warps,
                                         .num_stages = kernel.num_stages,
                                         .num_ctas = kernel.num_ctas,
                                         .maxnreg = kernel.maxnreg,
                                         .enable_fp_fusion = kernel.enable_fp_fusion,
                                         .target = plan.target}});
    at->kernels.push_back(k);
  }
  std::map<std::string, int> seen;
  for (CompileUnit& unit : units) {
    const std::string& name = plan.kernels[unit.kernels.front()].name;
    const int number = ++seen[name];
    unit.name = number == 1 ? name : fmt::format("{}.{}", name, number);
  }
  return units;
}

Status put_ptx(const std::map<std::string, std::string>& ptx, std::vector<CompileUnit>& units) {
  for (const auto& [name, text] : ptx) {
    const auto unit = std::ranges::find(units, name, &CompileUnit::name);
    if (unit == units.end()) {
      std::vector<std::string> known;
      for (const CompileUnit& each : units) known.push_back(each.name);
      return fail("no kernel is named {}, whose PTX is given; the plan has {}", name,
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    unit->request.ptx = text;
  }
  return ok();
}

std::optional<std::size_t> deciding_failure(const JobProgress& progress) {
  const std::set<std::size_t> unfit = unfit_kernels(progress);
  std::set<std::size_t> hopeless;  // kernels of launches without another config
  for (const plan::PlanStep& step : progress.plan->steps) {
    const auto* launch = std::get_if<plan::LaunchStep>(&step.action);
    if (launch == nullptr) continue;
    std::set<std::size_t> kernels;
    for (const plan::LaunchChoice& choice : launch->choices)
      kernels.insert(static_cast<std::size_t>(choice.kernel));
    if (std::ranges::includes(unfit, kernels)) hopeless.merge(kernels);
  }
  for (std::size_t k = 0; k < progress.units.size(); ++k) {
    const CompileUnit& unit = progress.units[k];
    if (compile_failure(unit) == nullptr) continue;
    if (!does_not_fit(unit) || std::ranges::any_of(unit.kernels, [&](std::size_t kernel) {
          return hopeless.contains(kernel);
        }))
      return k;
  }
  return std::nullopt;
}

void pass_over_configs(JobProgress& progress) {
  CHECK(progress.pending == 0, "kernels are being compiled");
  const std::set<std::size_t> unfit = unfit_kernels(progress);
  const auto is_unfit = [&](const plan::LaunchChoice& choice) {
    return unfit.contains(static_cast<std::size_t>(choice.kernel));
  };
  if (unfit.empty()) return;
  plan::Plan plan = *progress.plan;
  std::set<std::size_t> passed;
  for (plan::PlanStep& step : plan.steps) {
    auto* launch = std::get_if<plan::LaunchStep>(&step.action);
    if (launch == nullptr) continue;
    if (std::ranges::all_of(launch->choices, is_unfit)) return;  // no config is left to launch
    for (const plan::LaunchChoice& choice : launch->choices)
      if (is_unfit(choice)) passed.insert(static_cast<std::size_t>(choice.kernel));
    std::erase_if(launch->choices, is_unfit);
  }
  progress.passed_over.assign(passed.begin(), passed.end());
  progress.plan_json = to_line(plan::to_json(plan));
  progress.plan = std::move(plan);
}

std::optional<std::vector<language::KernelBinary>> binaries_of(const JobProgress& progress) {
  std::vector<language::KernelBinary> kernels(progress.plan->kernels.size());
  for (const CompileUnit& unit : progress.units) {
    if (is_passed_over(progress, unit)) continue;
    const auto* compiled = compiled_kernel(unit);
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

Ending ending_of(const JobProgress& progress) {
  const auto is_fault = [](const auto& outcome) {
    return std::holds_alternative<sandbox::InfrastructureFault>(outcome.result);
  };
  const auto failed_with = [](const auto& outcome, ErrorClass error_class) {
    const auto* failure = std::get_if<sandbox::CandidateFailure>(&outcome.result);
    return failure != nullptr && !failure->undisturbed && failure->error.error_class == error_class;
  };
  bool fault = progress.capture && is_fault(*progress.capture);
  bool timeout = progress.capture && failed_with(*progress.capture, ErrorClass::timeout);
  bool killed = progress.capture && failed_with(*progress.capture, ErrorClass::killed);
  for (const CompileUnit& unit : progress.units) {
    fault = fault || (unit.outcome && is_fault(*unit.outcome));
    timeout = timeout || (unit.outcome && failed_with(*unit.outcome, ErrorClass::compile_timeout));
    killed = killed || (unit.outcome && failed_with(*unit.outcome, ErrorClass::killed));
  }
  if (progress.referee) {
    const auto* failure = std::get_if<RefereeFailure>(&*progress.referee);
    const auto* report = std::get_if<referee::RefereeReport>(&*progress.referee);
    fault = fault || (failure != nullptr && failure->kind != RefereeFailure::Kind::timeout) ||
            (report != nullptr && report->fault == Fault::infrastructure);
    timeout = timeout || (failure != nullptr && failure->kind == RefereeFailure::Kind::timeout) ||
              (report != nullptr && report->deadline_hit);
  }
  if (fault) return Ending::infrastructure;
  if (killed) return Ending::killed;
  return timeout ? Ending::deadline : Ending::verdict;
}

Verdict verdict_of(const JobProgress& progress, const VerdictContext& context) {
  Verdict verdict = begin_verdict(progress, context);
  if (!progress.capture) {  // inspection refused the candidate
    const auto reason =
        std::ranges::find(progress.inspection, Severity::reject, &Finding::severity);
    CHECK(reason != progress.inspection.end(), "nothing was captured, though nothing refused it");
    const bool unreadable = reason->rule == "syntax_error";
    verdict.stage = unreadable ? Stage::extracted : Stage::parsed;
    set_error(verdict,
              {.error_class = unreadable ? ErrorClass::syntax_error : ErrorClass::refused,
               .message = unreadable ? reason->message : reason->rule + ": " + reason->message,
               .line = reason->line},
              Fault::candidate, progress.job.kernel);
    return verdict;
  }
  if (const sandbox::CandidateFailure* failure = capture_failure(progress)) {
    verdict.stage = failure->stage;
    set_error(verdict, failure->error, Fault::candidate, progress.job.kernel);
    return verdict;
  }
  if (!progress.request_error.empty()) {
    verdict.stage = Stage::captured;
    set_error(verdict, {.error_class = ErrorClass::bad_request, .message = progress.request_error},
              Fault::candidate, progress.job.kernel);
    return verdict;
  }
  if (!progress.plan) {  // the guest's result is no plan
    verdict.stage = Stage::inspected;
    set_error(verdict, {.error_class = ErrorClass::bad_plan, .message = progress.plan_error},
              Fault::candidate, progress.job.kernel);
    return verdict;
  }
  verdict.stage = Stage::captured;
  count_operators(*progress.plan, verdict);
  verdict.compiled = add_kernels(progress, verdict);
  if (verdict.compiled) verdict.stage = Stage::compiled;
  if (progress.referee) {
    if (const auto* report = std::get_if<referee::RefereeReport>(&*progress.referee))
      add_report(*report, progress, context.ceilings, verdict);
    else if (verdict.compiled)
      set_error(verdict,
                {.error_class = ErrorClass::too_large_to_evaluate,
                 .message = std::get<RefereeFailure>(*progress.referee).message},
                Fault::none, progress.job.kernel);
  }
  verdict.accepted = verdict.correct && !has_rejecting_finding(verdict);
  add_advice(*progress.plan, verdict);
  return verdict;
}

Verdict task_failure_verdict(const JobProgress& progress, const VerdictError& error,
                             const VerdictContext& context) {
  Verdict verdict = begin_verdict(progress, context);
  verdict.error =
      VerdictError{.error_class = ErrorClass::task_failed,
                   .message = fmt::format("{}: {}", class_name(error), placed_message(error))};
  return verdict;
}

Verdict infrastructure_verdict(const JobProgress& progress, const std::string& message,
                               const VerdictContext& context) {
  Verdict verdict = begin_verdict(progress, context);
  verdict.error = VerdictError{.error_class = ErrorClass::infrastructure, .message = message};
  verdict.fault = Fault::infrastructure;
  return verdict;
}

std::string infrastructure_message(const JobProgress& progress) {
  const auto said_by = [](const auto& outcome) -> std::string {
    const auto* fault = std::get_if<sandbox::InfrastructureFault>(&outcome.result);
    return fault != nullptr ? fault->message : std::string();
  };
  std::string message = progress.capture ? said_by(*progress.capture) : "";
  for (const CompileUnit& unit : progress.units)
    if (message.empty() && unit.outcome) message = said_by(*unit.outcome);
  if (!message.empty() || !progress.referee) return message;
  if (const auto* failure = std::get_if<RefereeFailure>(&*progress.referee))
    return failure->message;
  const auto& report = std::get<referee::RefereeReport>(*progress.referee);
  return report.error ? report.error->message : "";
}

void start_over(JobProgress& progress) {
  progress.inspection.clear();
  progress.capture.reset();
  progress.plan.reset();
  progress.plan_json.clear();
  progress.plan_error.clear();
  progress.request_error.clear();
  progress.units.clear();
  progress.passed_over.clear();
  progress.referee.reset();
  progress.pending = 0;
}

}  // namespace tritonsmith::gym::judge
