#include "gym/referee/protocol/referee_job.h"

namespace tritonsmith::gym {
namespace {

Json error_to_json(const VerdictError& error) {
  return {{"class", error.error_class},
          {"message", error.message},
          {"excerpt", error.excerpt},
          {"line", error.line}};
}

Result<VerdictError> error_from_json(const Json& json) {
  JsonReader reader(json);
  VerdictError error{.error_class = reader.string("class"),
                     .message = reader.string("message", ""),
                     .excerpt = reader.string("excerpt", ""),
                     .line = static_cast<int>(reader.integer("line", 0))};
  TRY(reader.status());
  return error;
}

Status read_lists(JsonReader& reader, RefereeReport& report) {
  for (const Json& item : reader.array("findings")) {
    TRY_ASSIGN(Finding finding, finding_from_json(item));
    report.findings.push_back(std::move(finding));
  }
  for (const Json& item : reader.array("stage_ms")) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_number())
      return fail("stage_ms: an entry is no pair of name and milliseconds");
    report.stage_ms.emplace_back(item[0].get<std::string>(), item[1].get<double>());
  }
  return ok();
}

}  // namespace

Json to_json(const RefereeJob& job) {
  Json json = {{"task", job.task_key},          {"secret", job.secret},
               {"trials", job.trials},          {"policy", name_of(job.policy)},
               {"seconds", job.budget.seconds}, {"memory_bytes", job.budget.memory_bytes}};
  if (job.tolerance) json["tolerance"] = *job.tolerance;
  return json;
}

Result<RefereeJob> referee_job_from_json(const Json& json) {
  JsonReader reader(json);
  RefereeJob job;
  job.task_key = reader.string("task");
  job.secret = reader.string("secret");
  job.trials = static_cast<int>(reader.integer("trials"));
  job.policy = reader.enumerated<Policy>("policy");
  job.budget = {.seconds = reader.number("seconds"),
                .memory_bytes = reader.integer("memory_bytes")};
  if (reader.has("tolerance")) job.tolerance = reader.number("tolerance");
  TRY(reader.status());
  return job;
}

Json to_json(const RefereeReport& report) {
  Json json = {{"ran", report.ran},
               {"correct", report.correct},
               {"fault", name_of(report.fault)},
               {"deadline_hit", report.deadline_hit},
               {"findings", Json::array()},
               {"stage_ms", Json::array()}};
  if (report.error) json["error"] = error_to_json(*report.error);
  for (const Finding& finding : report.findings) json["findings"].push_back(to_json(finding));
  for (const auto& [stage, ms] : report.stage_ms) json["stage_ms"].push_back({stage, ms});
  if (report.numerics)
    json["numerics"] = {{"max_abs", report.numerics->max_abs},
                        {"max_rel", report.numerics->max_rel},
                        {"trials", report.numerics->trials}};
  return json;
}

Result<RefereeReport> referee_report_from_json(const Json& json) {
  JsonReader reader(json);
  RefereeReport report;
  report.ran = reader.boolean("ran");
  report.correct = reader.boolean("correct");
  report.fault = reader.enumerated<Fault>("fault");
  report.deadline_hit = reader.boolean("deadline_hit", false);
  TRY(reader.status());
  TRY(read_lists(reader, report));
  if (reader.has("error")) {
    TRY_ASSIGN(report.error, error_from_json(json["error"]));
  }
  if (reader.has("numerics")) {
    JsonReader numerics(json["numerics"]);
    report.numerics = Numerics{.max_abs = numerics.number("max_abs", 0),
                               .max_rel = numerics.number("max_rel", 0),
                               .trials = static_cast<int>(numerics.integer("trials", 0))};
    TRY(numerics.status());
  }
  return report;
}

}  // namespace tritonsmith::gym
