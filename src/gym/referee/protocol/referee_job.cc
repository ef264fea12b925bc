#include "gym/referee/protocol/referee_job.h"

#include <map>
#include <set>

namespace tritonsmith::gym::referee {
namespace {

Json to_json(const PlanTiming& timing) {
  Json json = {{"candidate", to_json(timing.candidate)},
               {"reference", to_json(timing.reference)},
               {"coverage", timing.coverage},
               {"work", to_json(timing.work)},
               {"peak_bytes", timing.peak_bytes},
               {"reference_peak_bytes", timing.reference_peak_bytes},
               {"steps", Json::array()}};
  for (const StepTiming& step : timing.steps)
    json["steps"].push_back({{"kernel", step.kernel},
                             {"op", step.op},
                             {"launches", step.launches},
                             {"device_us", step.device_us}});
  if (timing.clocks) json["clocks"] = to_json(*timing.clocks);
  return json;
}

Result<PlanTiming> plan_timing_from_json(const Json& json) {
  JsonReader reader(json);
  PlanTiming timing{.coverage = reader.number("coverage"),
                    .peak_bytes = reader.number("peak_bytes"),
                    .reference_peak_bytes = reader.number("reference_peak_bytes")};
  for (const Json& item : reader.array("steps")) {
    JsonReader step(item);
    timing.steps.push_back({.kernel = static_cast<int>(step.integer("kernel")),
                            .op = step.string("op"),
                            .launches = static_cast<int>(step.integer("launches")),
                            .device_us = step.number("device_us")});
    TRY(step.status());
  }
  TRY(reader.status());
  if (!json.contains("candidate") || !json.contains("reference"))
    return fail("a timing lacks a side");
  TRY_ASSIGN(timing.work, work_from_json(reader.object("work")));
  TRY_ASSIGN(timing.candidate, timing_from_json(json["candidate"]));
  TRY_ASSIGN(timing.reference, timing_from_json(json["reference"]));
  if (reader.has("clocks")) {
    TRY_ASSIGN(timing.clocks, clocks_from_json(json["clocks"]));
  }
  return timing;
}

// The binaries follow the head, in one frame, and the head says where each begins and ends. Equal
// binaries are sent once.
Json kernels_to_json(const std::vector<language::KernelBinary>& kernels) {
  Json list = Json::array();
  std::map<std::string_view, std::size_t> offsets;
  std::size_t end = 0;
  for (const language::KernelBinary& kernel : kernels) {
    const auto [at, is_new] = offsets.try_emplace(kernel.cubin, end);
    if (is_new) end += kernel.cubin.size();
    list.push_back({{"name", kernel.name},
                    {"warps", kernel.num_warps},
                    {"shared_bytes", kernel.shared_bytes},
                    {"scratch_bytes", kernel.scratch_bytes},
                    {"begin", at->second},
                    {"bytes", kernel.cubin.size()}});
  }
  return list;
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
  Json json = {{"task", job.task_key},
               {"secret", job.secret},
               {"trials", job.trials},
               {"policy", name_of(job.policy)},
               {"comparison", name_of(job.comparison)},
               {"strides", name_of(job.strides)},
               {"seconds", job.budget.seconds},
               {"memory_bytes", job.budget.memory_bytes},
               {"timing_seconds", job.budget.timing_seconds}};
  if (job.tolerance) json["tolerance"] = *job.tolerance;
  if (job.adequacy_only) json["adequacy_only"] = true;
  if (job.adequacy_secrets > 0) json["adequacy_secrets"] = job.adequacy_secrets;
  if (!job.kernels.empty()) json["kernels"] = kernels_to_json(job.kernels);
  return json;
}

std::string joined_binaries(const RefereeJob& job) {
  std::string all;
  std::set<std::string_view> seen;
  for (const language::KernelBinary& kernel : job.kernels)
    if (seen.insert(kernel.cubin).second) all += kernel.cubin;
  return all;
}

Status take_binaries(RefereeJob& job, const Json& json, std::string_view joined) {
  JsonReader reader(json);
  for (const Json& item : reader.array("kernels")) {
    JsonReader kernel(item);
    const auto begin = static_cast<std::size_t>(kernel.integer("begin"));
    const auto bytes = static_cast<std::size_t>(kernel.integer("bytes"));
    job.kernels.push_back({.name = kernel.string("name"),
                           .num_warps = static_cast<int>(kernel.integer("warps")),
                           .shared_bytes = static_cast<int>(kernel.integer("shared_bytes")),
                           .scratch_bytes = static_cast<int>(kernel.integer("scratch_bytes", 0))});
    TRY(kernel.status());
    if (begin > joined.size() || bytes > joined.size() - begin)
      return fail("a kernel's binary lies outside those that came");
    job.kernels.back().cubin = joined.substr(begin, bytes);
  }
  return reader.status();
}

Result<RefereeJob> referee_job_from_json(const Json& json) {
  JsonReader reader(json);
  RefereeJob job;
  job.task_key = reader.string("task");
  job.secret = reader.string("secret");
  job.trials = static_cast<int>(reader.integer("trials"));
  job.policy = reader.enumerated<Policy>("policy");
  job.comparison = reader.enumerated<Comparison>("comparison");
  job.strides = reader.enumerated<Strides>("strides");
  job.budget = {.seconds = reader.number("seconds"),
                .memory_bytes = reader.integer("memory_bytes"),
                .timing_seconds = reader.number("timing_seconds")};
  if (reader.has("tolerance")) job.tolerance = reader.number("tolerance");
  job.adequacy_only = reader.boolean("adequacy_only", false);
  job.adequacy_secrets = static_cast<int>(reader.integer("adequacy_secrets", 0));
  TRY(reader.status());
  return job;
}

Json to_json(const RefereeReport& report) {
  Json json = {{"ran", report.ran},
               {"correct", report.correct},
               {"fault", name_of(report.fault)},
               {"reference", name_of(report.reference)},
               {"deadline_hit", report.deadline_hit},
               {"findings", Json::array()},
               {"stage_ms", Json::array()}};
  if (report.error) json["error"] = to_json(*report.error);
  for (const Finding& finding : report.findings) json["findings"].push_back(to_json(finding));
  for (const auto& [stage, ms] : report.stage_ms) json["stage_ms"].push_back({stage, ms});
  if (report.timing) json["timing"] = to_json(*report.timing);
  if (report.adequacy) json["adequacy"] = to_json(*report.adequacy);
  if (report.spent) json["spent"] = true;
  if (report.numerics) json["numerics"] = to_json(*report.numerics);
  return json;
}

Result<RefereeReport> referee_report_from_json(const Json& json) {
  JsonReader reader(json);
  RefereeReport report;
  report.ran = reader.boolean("ran");
  report.correct = reader.boolean("correct");
  report.fault = reader.enumerated<Fault>("fault");
  report.reference = reader.enumerated("reference", std::optional(ReferenceKind::replay));
  report.deadline_hit = reader.boolean("deadline_hit", false);
  report.spent = reader.boolean("spent", false);
  TRY(reader.status());
  TRY(read_lists(reader, report));
  if (reader.has("error")) {
    TRY_ASSIGN(report.error, error_from_json(json["error"]));
  }
  if (reader.has("timing")) {
    TRY_ASSIGN(report.timing, plan_timing_from_json(json["timing"]));
  }
  if (reader.has("adequacy")) {
    TRY_ASSIGN(report.adequacy, adequacy_from_json(json["adequacy"]));
  }
  if (reader.has("numerics")) {
    TRY_ASSIGN(report.numerics, numerics_from_json(json["numerics"]));
  }
  return report;
}

}  // namespace tritonsmith::gym::referee
