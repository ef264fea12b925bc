#include "gym/service/kernelgym.h"

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "base/utc_time.h"

namespace tritonsmith::gym::service {
namespace {

constexpr double kNotMeasured = -1;
constexpr std::size_t kLongestTaskId = 100;

constexpr std::string_view kCompiled = "torch_compile";  // the name of this baseline

// Returns the backend for a name that KernelGYM accepts.
Result<ReferenceBackend> reference_backend(JsonReader& reader) {
  const std::string name = reader.string("reference_backend", "eager");
  if (name == "eager") return ReferenceBackend::eager;
  if (name == "torch_compile" || name == "torch-compile" || name == "compile")
    return ReferenceBackend::torch_compile;
  return fail("reference_backend: `{}` is neither eager nor torch_compile", name);
}

// KernelGYM's rule: the reference defines `class {entry_point}`, and the kernel `class
// {entry_point}New`. Lines at the end of both files add the names that this judge looks
// for, so that line numbers stay the same. A kernel without its class fails there, whatever
// else it defines.
Status name_the_models(const std::string& entry_point, Json& job) {
  constexpr std::string_view ours = "Model";
  constexpr std::size_t longest = 100;
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto belongs = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  if (entry_point.empty() || entry_point.size() > longest || !is_letter(entry_point.front()) ||
      !std::ranges::all_of(entry_point, belongs))
    return fail("entry_point: the name of the reference's class, not `{}`", entry_point);
  if (entry_point == ours) return ok();
  const auto append = [&](Json& source, std::string_view suffix) {
    source = fmt::format("{}\n\n{}{} = {}{}\n", source.get<std::string>(), ours, suffix,
                         entry_point, suffix);
  };
  if (job["task"]["source"].get<std::string>().find("class " + entry_point) == std::string::npos)
    return fail("entry_point: reference_code does not define `class {}`", entry_point);
  append(job["task"]["source"], "");
  append(job["kernel"], "New");
  return ok();
}

Status check(JsonReader& reader, const KernelGymRequest& request) {
  if (request.task_id.empty() || request.task_id.size() > kLongestTaskId)
    return fail("task_id has 1 to {} characters", kLongestTaskId);
  if (reader.string("workflow", "kernelbench") != "kernelbench")
    return fail("workflow: only kernelbench is served");
  if (reader.string("backend", "triton") != "triton") return fail("backend: only triton is served");
  const int trials = request.submission.job.trials;
  if (trials < 1 || trials > 20) return fail("num_correct_trials must lie between 1 and 20");
  if (request.timeout_seconds < 10 || request.timeout_seconds > 3600)
    return fail("timeout must lie between 10 and 3600 seconds");
  return reader.status();
}

std::string error_code_of(const Verdict& verdict) {
  const ErrorClass error = verdict.error->error_class;
  if (error == ErrorClass::syntax_error) return "SYNTAX_ERROR";
  if (error == ErrorClass::import_error) return "IMPORT_ERROR";
  if (error == ErrorClass::no_model || error == ErrorClass::refused ||
      error == ErrorClass::no_kernel)
    return "VALIDATION_ERROR";
  if (error == ErrorClass::deadline || error == ErrorClass::timeout ||
      error == ErrorClass::compile_timeout)
    return "TIMEOUT_ERROR";
  if (verdict.fault == Fault::infrastructure) return "SYSTEM_ERROR";
  if (error == ErrorClass::out_of_resources || error == ErrorClass::too_large_to_evaluate)
    return "RESOURCE_ERROR";
  if (verdict.stage == Stage::captured) return "COMPILATION_ERROR";
  if (verdict.stage >= Stage::ran) return "CORRECTNESS_ERROR";
  return "RUNTIME_ERROR";
}

// Returns the reference's time in milliseconds for the backend of the request, or -1 if it
// was not measured.
double reference_runtime(const Verdict& verdict, ReferenceBackend reference) {
  if (reference == ReferenceBackend::eager)
    return verdict.reference_ms ? verdict.reference_ms->median : kNotMeasured;
  const auto at = std::ranges::find(verdict.baselines, kCompiled, &NamedTimings::value_type::first);
  return at != verdict.baselines.end() ? at->second.median : kNotMeasured;
}

double speedup_of(const Verdict& verdict, ReferenceBackend reference) {
  if (!verdict.accepted) return 0;
  const auto speedup =
      reference == ReferenceBackend::eager ? verdict.speedup : speedup_over(verdict, kCompiled);
  return speedup.value_or(0);
}

// Returns a message if a right kernel was timed but its reference was not. The response is then no
// verdict on the kernel.
std::optional<std::string> missing_reference(const Verdict& verdict, ReferenceBackend reference) {
  if (!verdict.accepted || !verdict.time_ms || reference_runtime(verdict, reference) > 0)
    return std::nullopt;
  const auto why = std::ranges::find(verdict.findings, "baseline_failed", &Finding::rule);
  return "the reference has no time: " +
         (why != verdict.findings.end() ? why->message : std::string("it was not measured"));
}

std::string status_of(const JobView& job, const Verdict& verdict) {
  if (job.state == JobState::queued) return "pending";
  if (job.state == JobState::running) return "processing";
  if (job.state == JobState::cancelled) return "failed";
  if (verdict.error && verdict.error->error_class == ErrorClass::deadline) return "timeout";
  return verdict.fault == Fault::infrastructure ? "failed" : "completed";
}

// Returns the profile of one forward in the form of KernelGYM's profiler: each kernel of the
// candidate, and each operator that it leaves to PyTorch. This judge measures the device's time
// alone, so there is no time on the CPU.
Json profile_of(const Verdict& verdict) {
  Json rows = Json::array();
  double total_us = 0;
  int events = 0;
  const auto add = [&](const std::string& name, int count, double device_us) {
    rows.push_back(
        {{"name", name}, {"cuda_time_us", device_us}, {"cpu_time_us", 0}, {"count", count}});
    total_us += device_us;
    events += count;
  };
  for (const KernelReport& kernel : verdict.kernels)
    add(kernel.name, kernel.launches, kernel.device_us);
  for (const AtenReport& aten : verdict.aten) add(aten.op, aten.calls, aten.device_us);
  return {{"kernel_count", rows.size()},
          {"kernels", std::move(rows)},
          {"total_cpu_time_us", 0},
          {"total_cuda_time_us", total_us},
          {"total_self_cuda_time_us", total_us},
          {"cuda_device_event_count", events},
          {"cuda_time_event_count", events}};
}

// Adds the facts that KernelGYM's rewards read: which kernels ran, and their share of the
// device's time.
void add_profile(const Verdict& verdict, int own, int all, Json& metadata) {
  Json names = Json::array();
  double own_us = 0;
  for (const KernelReport& kernel : verdict.kernels) {
    names.push_back(kernel.name);
    own_us += kernel.device_us;
  }
  metadata["triton_profiler_used"] = own > 0;
  metadata["triton_profiler_matches"] = names;
  if (!verdict.coverage) return;  // the verdict has no timing
  metadata["profiling"] = profile_of(verdict);
  metadata["triton_kernel_in_profiling"] = std::move(names);
  metadata["triton_kernel_not_in_profiling"] =
      Json::array();  // this judge launches every kernel itself, or it is absent
  metadata["triton_kernel_coverage"] = fmt::format("{:.4f}", all > 0 ? 1.0 * own / all : 0);
  metadata["custom_kernel_cuda_time_in_profiling_us"] = own_us;
  metadata["total_kernel_run_time_in_profiling_us"] = metadata["profiling"]["total_cuda_time_us"];
  metadata["custom_kernel_cuda_time_coverage"] = fmt::format("{:.4f}", *verdict.coverage);
}

Json metadata_of(const Verdict& verdict) {
  int own = 0, all = 0;
  for (const KernelReport& kernel : verdict.kernels) own += kernel.launches;
  all = own;
  for (const AtenReport& aten : verdict.aten) all += aten.calls;
  Json metadata = {{"hardware", verdict.environment.gpu},
                   {"device", verdict.environment.gpu},
                   {"num_custom_kernels", own},
                   {"num_total_kernels", all},
                   {"verdict", to_json(verdict)}};
  if (verdict.numerics) {
    metadata["correctness_trials"] = fmt::format("({0} / {0})", verdict.numerics->trials);
    metadata["max_difference"] = Json::array({fmt::format("{:.6f}", verdict.numerics->max_abs)});
  }
  add_profile(verdict, own, all, metadata);
  if (verdict.error)
    metadata[verdict.compiled
                 ? (verdict.stage >= Stage::ran ? "correctness_issue" : "runtime_error")
                 : "compilation_error"] = verdict.error->message;
  return metadata;
}

Verdict verdict_of(const JobView& job) {
  if (job.verdict.empty()) return {};
  const auto json = parse_json(job.verdict);
  if (!json) return {};
  return verdict_from_json(*json).value_or(Verdict{});
}

}  // namespace

Result<KernelGymRequest> parse_kernelgym_request(std::string_view body,
                                                 const api::SubmissionLimits& limits) {
  TRY_ASSIGN(const Json json, parse_json(body));
  if (!json.is_object()) return fail("the body must be an object");
  JsonReader reader(json);
  KernelGymRequest request;
  request.task_id = reader.string("task_id");
  request.timeout_seconds = reader.number("timeout", 300);
  TRY_ASSIGN(request.reference, reference_backend(reader));
  Json job = {
      {"task", {{"id", request.task_id}, {"source", reader.string("reference_code")}}},
      {"kernel", reader.string("kernel_code")},
      {"policy", name_of(reader.enumerated("policy", std::optional(Policy::open)))},
      {"comparison", name_of(reader.enumerated("comparison", std::optional(limits.comparison)))},
      {"trials", reader.integer("num_correct_trials", 5)},
      {"priority", name_of(reader.enumerated("priority", std::optional(api::Priority::normal)))},
      {"deadline_seconds", request.timeout_seconds}};
  if (request.reference == ReferenceBackend::torch_compile) job["baselines"] = {kCompiled};
  // A repeated request has no name of its own, so the time makes its job a new one.
  if (reader.boolean("force_refresh", false))
    job["fresh"] = fmt::format("kernelgym-{}-{}", content_key(request.task_id).substr(0, 16),
                               std::chrono::steady_clock::now().time_since_epoch().count());
  const std::string entry_point = reader.string("entry_point", "Model");
  TRY(reader.status());
  TRY(name_the_models(entry_point, job));
  TRY_ASSIGN(request.submission, api::submission_from_json(job, limits));
  TRY(check(reader, request));
  return request;
}

// The alias is longer than any task_id, so it equals none.
std::string compiled_alias(const std::string& task_id) {
  return std::string(kLongestTaskId, '/') + std::string(kCompiled) + "/" + task_id;
}

std::vector<std::string> aliases_of(const KernelGymRequest& request) {
  std::vector<std::string> aliases = {request.task_id};
  if (request.reference == ReferenceBackend::torch_compile)
    aliases.push_back(compiled_alias(request.task_id));
  return aliases;
}

Json kernelgym_response(const std::string& task_id, const JobView& job,
                        ReferenceBackend reference) {
  const Verdict verdict = verdict_of(job);
  const std::string status = status_of(job, verdict);
  Json response = {{"task_id", task_id},
                   {"status", status},
                   {"compiled", verdict.compiled},
                   {"correctness", verdict.accepted},
                   {"decoy_kernel", has_rejecting_finding(verdict)},
                   {"reference_runtime", reference_runtime(verdict, reference)},
                   {"kernel_runtime", verdict.time_ms ? verdict.time_ms->median : kNotMeasured},
                   {"speedup", speedup_of(verdict, reference)},
                   {"metadata", metadata_of(verdict)},
                   {"error_message", nullptr},
                   {"error_code", nullptr},
                   {"submitted_at", utc_time(job.submitted_ms)},
                   {"completed_at", nullptr},
                   {"processing_time", nullptr}};
  if (job.state == JobState::cancelled) response["error_message"] = "cancelled";
  if (job.state != JobState::done) return response;
  response["completed_at"] = utc_time(job.finished_ms);
  response["processing_time"] = static_cast<double>(job.finished_ms - job.submitted_ms) / 1e3;
  if (verdict.error) {
    response["error_message"] = verdict.error->message;
    response["error_code"] = error_code_of(verdict);
  } else if (const auto missing = missing_reference(verdict, reference)) {
    response["status"] = "failed";
    response["error_message"] = *missing;
    response["error_code"] = "SYSTEM_ERROR";
  }
  return response;
}

Json kernelgym_status(const std::string& task_id, const JobView& job) {
  const std::string status = status_of(job, verdict_of(job));
  return {{"task_id", task_id},
          {"status", status},
          {"progress", job.state == JobState::done ? 1.0 : 0.0},
          {"estimated_completion", nullptr},
          {"queue_position", nullptr},
          {"assigned_device", nullptr}};
}

}  // namespace tritonsmith::gym::service
