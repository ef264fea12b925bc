#include "gym/steps/step_message.h"

#include "base/hash.h"
#include "base/json.h"
#include "gym/compile/compile_cache.h"
#include "gym/language/registry/languages.h"

namespace tritonsmith::gym::steps {
namespace {

using capture::CaptureOutcome;
using capture::CaptureRequest;
using compile::CompileOutcome;
using compile::CompileRequest;

Json request_json(const CaptureRequest& request) {
  return {{"step", "capture"},
          {"is_task", request.role == capture::CaptureRole::task},
          {"source", request.source},
          {"path", request.path},
          {"init_args", request.init_args_json},
          {"inputs", request.inputs_json},
          {"tensors", request.tensors_json},
          {"known", request.known_json},
          {"first_call_only", request.first_call_only},
          {"in_eval_mode", request.in_eval_mode},
          {"ignores_mode", request.ignores_mode},
          {"target", request.target},
          {"device", request.device_json}};
}

Json request_json(const CompileRequest& request) {
  return {{"step", "compile"},
          {std::string(name_of(request.language)), request.code},
          {"num_warps", request.num_warps},
          {"num_stages", request.num_stages},
          {"num_ctas", request.num_ctas},
          {"maxnreg", request.maxnreg},
          {"enable_fp_fusion", request.enable_fp_fusion},
          {"target", request.target},
          {"ptx", request.ptx},
          {"wants_ptx", request.wants_ptx},
          {"job", request.job}};
}

tl::unexpected<Error> unknown_step(const std::string& step) {
  return fail("step: must be capture or compile, and not '{}'", step);
}

Json stages_json(const sandbox::StageTimes& stages) {
  Json json = Json::array();
  for (const auto& [stage, ms] : stages) json.push_back({stage, ms});
  return json;
}

Result<sandbox::StageTimes> stages_from_json(const Json& json) {
  sandbox::StageTimes stages;
  for (const Json& each : json) {
    if (!each.is_array() || each.size() != 2 || !each[0].is_string() || !each[1].is_number())
      return fail("stage_ms: must be pairs of a name and a number");
    stages.emplace_back(each[0].get<std::string>(), each[1].get<double>());
  }
  return stages;
}

Json failure_json(const sandbox::CandidateFailure& failure) {
  return {{"stage", name_of(failure.stage)},
          {"error", tritonsmith::to_json(failure.error)},
          {"undisturbed", failure.undisturbed}};
}

Result<sandbox::CandidateFailure> failure_from_json(const Json& json) {
  JsonReader reader(json);
  sandbox::CandidateFailure failure{.stage = reader.enumerated<Stage>("stage"),
                                    .error = {},
                                    .undisturbed = reader.boolean("undisturbed")};
  TRY_ASSIGN(failure.error, error_from_json(reader.object("error")));
  TRY(reader.status());
  return failure;
}

// Sets one of "failure", "fault" and the third kind's own member.
template <typename Outcome, typename Write>
Json result_json(const Outcome& outcome, const Write& write) {
  Json json = {{"stage_ms", stages_json(outcome.stage_ms)}};
  if (const auto* failure = std::get_if<sandbox::CandidateFailure>(&outcome.result))
    json["failure"] = failure_json(*failure);
  else if (const auto* fault = std::get_if<sandbox::InfrastructureFault>(&outcome.result))
    json["fault"] = fault->message;
  else
    write(json, std::get<0>(outcome.result));
  return json;
}

template <typename Outcome, typename Read>
Result<Outcome> result_from_json(JsonReader& reader, const Read& read) {
  Outcome outcome;
  if (reader.has("failure")) {
    TRY_ASSIGN(outcome.result, failure_from_json(reader.object("failure")));
  } else if (reader.has("fault")) {
    outcome.result = sandbox::InfrastructureFault{reader.string("fault")};
  } else {
    TRY_ASSIGN(outcome.result, read(reader));
  }
  TRY_ASSIGN(outcome.stage_ms, stages_from_json(reader.array("stage_ms")));
  return outcome;
}

Json outcome_json(const CaptureOutcome& outcome) {
  Json json = result_json(
      outcome, [](Json& whole, const capture::CapturedPlan& plan) { whole["plan"] = plan.json; });
  json["step"] = "capture";
  json["jail_layers"] = outcome.jail_layers;
  json["output"] = outcome.output;
  return json;
}

Json outcome_json(const CompileOutcome& outcome) {
  Json json = result_json(outcome, [](Json& whole, const compile::CompiledKernel& kernel) {
    whole["kernel"] = compile::to_json(kernel);
  });
  json["step"] = "compile";
  json["from_cache"] = outcome.from_cache;
  return json;
}

Result<StepOutcome> outcome_from_json(const Json& json) {
  JsonReader reader(json);
  const std::string step = reader.string("step");
  TRY(reader.status());
  if (step == "capture") {
    TRY_ASSIGN(CaptureOutcome outcome,
               result_from_json<CaptureOutcome>(reader, [](JsonReader& from) {
                 return Result<capture::CapturedPlan>({.json = from.string("plan")});
               }));
    outcome.jail_layers = reader.strings("jail_layers");
    outcome.output = reader.string("output", "");
    TRY(reader.status());
    return StepOutcome(std::move(outcome));
  }
  if (step != "compile") return unknown_step(step);
  TRY_ASSIGN(CompileOutcome outcome, result_from_json<CompileOutcome>(reader, [](JsonReader& from) {
               return compile::compiled_kernel_from_json(from.object("kernel"));
             }));
  outcome.from_cache = reader.boolean("from_cache");
  TRY(reader.status());
  return StepOutcome(std::move(outcome));
}

}  // namespace

Json to_json(const StepRequest& request) {
  return std::visit([](const auto& each) { return request_json(each); }, request);
}

Result<StepRequest> step_request_from_json(const Json& json) {
  JsonReader reader(json);
  const std::string step = reader.string("step");
  TRY(reader.status());
  if (step == "capture") {
    CaptureRequest request{.role = reader.boolean("is_task") ? capture::CaptureRole::task
                                                             : capture::CaptureRole::candidate,
                           .source = reader.string("source"),
                           .path = reader.string("path"),
                           .init_args_json = reader.string("init_args"),
                           .inputs_json = reader.string("inputs"),
                           .tensors_json = reader.string("tensors"),
                           .known_json = reader.string("known"),
                           .first_call_only = reader.boolean("first_call_only"),
                           .in_eval_mode = reader.boolean("in_eval_mode"),
                           .ignores_mode = reader.boolean("ignores_mode"),
                           .target = reader.string("target"),
                           .device_json = reader.string("device")};
    TRY(reader.status());
    return StepRequest(std::move(request));
  }
  if (step != "compile") return unknown_step(step);
  const plan::KernelLanguage language = plan::language_in(json);
  CompileRequest request{.language = language,
                         .code = reader.string(std::string(name_of(language))),
                         .num_warps = static_cast<int>(reader.integer("num_warps")),
                         .num_stages = static_cast<int>(reader.integer("num_stages")),
                         .num_ctas = static_cast<int>(reader.integer("num_ctas")),
                         .maxnreg = static_cast<int>(reader.integer("maxnreg")),
                         .enable_fp_fusion = reader.boolean("enable_fp_fusion"),
                         .target = reader.string("target"),
                         .ptx = reader.string("ptx"),
                         .wants_ptx = reader.boolean("wants_ptx"),
                         .job = static_cast<std::uint64_t>(reader.integer("job"))};
  TRY(reader.status());
  return StepRequest(std::move(request));
}

Json to_json(const HostVersions& versions) {
  return {{"host", versions.host}, {"torch", versions.torch}, {"triton", versions.triton}};
}

Result<HostVersions> host_versions_from_json(const Json& json) {
  JsonReader reader(json);
  HostVersions versions{.host = reader.string("host"),
                        .torch = reader.string("torch"),
                        .triton = reader.string("triton")};
  TRY(reader.status());
  return versions;
}

Json to_json(const StepReply& reply) {
  return {
      {"versions", to_json(reply.versions)},
      {"outcome", std::visit([](const auto& each) { return outcome_json(each); }, reply.outcome)}};
}

Result<StepReply> step_reply_from_json(const Json& json) {
  JsonReader reader(json);
  StepReply reply;
  TRY_ASSIGN(reply.versions, host_versions_from_json(reader.object("versions")));
  TRY_ASSIGN(reply.outcome, outcome_from_json(reader.object("outcome")));
  TRY(reader.status());
  return reply;
}

std::string shared_name(const StepRequest& request) {
  const auto* compiling = std::get_if<CompileRequest>(&request);
  if (compiling == nullptr) return {};
  CompileRequest alike = *compiling;
  alike.job = 0;
  if (auto bare = language::language_of(alike.language).without_locations(alike.code))
    alike.code = *std::move(bare);
  return content_key(to_line(request_json(alike)));
}

}  // namespace tritonsmith::gym::steps
