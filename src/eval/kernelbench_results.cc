#include "eval/kernelbench_results.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::eval {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The members that every `metadata` and `runtime_stats` of KernelBench has.
OrderedJson where_it_ran(const Verdict& verdict) {
  return {{"hardware", verdict.environment.gpu},
          {"device", verdict.backend == Backend::replay ? "cuda" : "cpu"}};
}

// The member of KernelBench's that says why the sample failed, by how far it came.
const char* failure_member(const Verdict& verdict) {
  if (!verdict.compiled) return "compilation_error";
  return verdict.stage < Stage::ran ? "runtime_error" : "correctness_issue";
}

std::string refusal_of(const Finding& finding) {
  return fmt::format("refused by {}: {}", finding.rule, finding.message);
}

OrderedJson metadata_of(const Verdict& verdict) {
  OrderedJson metadata = where_it_ran(verdict);
  if (verdict.correct && verdict.numerics)
    metadata["correctness_trials"] = fmt::format("({0} / {0})", verdict.numerics->trials);
  OrderedJson own = {{"stage", name_of(verdict.stage)},
                     {"correct", verdict.correct},
                     {"accepted", verdict.accepted},
                     {"policy", name_of(verdict.policy)},
                     {"backend", name_of(verdict.backend)}};
  const auto refusal = std::ranges::find(verdict.findings, Severity::reject, &Finding::severity);
  if (verdict.error) {
    metadata[failure_member(verdict)] = verdict.error->message;
    own["error"] = class_name(*verdict.error);
  } else if (refusal != verdict.findings.end()) {
    metadata["correctness_issue"] = refusal_of(*refusal);
  }
  if (refusal != verdict.findings.end()) own["refused_by"] = refusal->rule;
  if (verdict.speedup) own["speedup"] = *verdict.speedup;
  if (verdict.reference_ms) own["reference_ms"] = verdict.reference_ms->median;
  metadata["tritonsmith"] = std::move(own);
  return metadata;
}

OrderedJson stats_of(const Verdict& verdict) {
  if (!verdict.time_ms) return OrderedJson::object();
  const Timing& time = *verdict.time_ms;
  OrderedJson stats = {{"mean", time.mean},
                       {"median", time.median},
                       {"p10", time.p10},
                       {"p90", time.p90},
                       {"num_trials", time.n}};
  stats.update(where_it_ran(verdict));
  return stats;
}

}  // namespace

bool has_result(const Verdict& verdict) {
  return verdict.fault == Fault::candidate || (verdict.fault == Fault::none && !verdict.error);
}

std::string kernelbench_results(std::span<const ProblemVerdict> verdicts) {
  OrderedJson problems = OrderedJson::object();
  for (const auto& [problem, sample, verdict] : verdicts)
    problems[std::to_string(problem)].push_back(
        {{"sample_id", sample},
         {"compiled", verdict->compiled},
         {"correctness", verdict->accepted},
         {"metadata", metadata_of(*verdict)},
         {"runtime", verdict->time_ms ? verdict->time_ms->mean : -1.0},
         {"runtime_stats", stats_of(*verdict)}});
  return problems.dump(4, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace tritonsmith::eval
