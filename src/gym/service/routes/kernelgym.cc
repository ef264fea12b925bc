// /evaluate, /status and /results: KernelGYM's interface (gym/service/kernelgym.h has its forms).
#include "gym/service/kernelgym.h"

#include "gym/service/routes/routes.h"

namespace tritonsmith::gym::service {
namespace {

HttpReply evaluate(const RouteContext& context, const HttpCall& call) {
  const auto request = parse_kernelgym_request(call.body, context.limits);
  if (!request) return error_reply(422, "VALIDATION_ERROR", request.error().message);
  const std::string name = api::job_name(request->submission);
  const auto submitted = context.job_store.submit({&request->submission, 1}, call.submitter);
  if (!submitted) return store_error(submitted.error());
  if (const auto* full = std::get_if<JobStoreFull>(&*submitted))
    return full_reply(*full, "RESOURCE_ERROR");
  const JobView& entered = std::get<std::vector<JobView>>(*submitted).front();
  context.metrics.count_submission(1, entered.state == JobState::queued ? 0 : 1);
  for (const std::string& alias : aliases_of(*request))
    if (const auto known = context.job_store.aliases().remember(alias, name); !known)
      return store_error(known.error());
  // Waits a little longer than the job's own deadline, which ends the job with a verdict.
  const auto job = await_job(context, name, request->timeout_seconds + 2);
  if (!job) return store_error(job.error());
  if (!*job) return error_reply(404, "SYSTEM_ERROR", "the job was forgotten");
  return json_reply(200, kernelgym_response(request->task_id, **job, request->reference));
}

// Finds the job of a task_id and passes it to `answer`.
template <typename Answer>
HttpReply look_up(const RouteContext& context, const std::string& task_id, const Answer& answer) {
  const auto name = context.job_store.aliases().find(task_id);
  if (!name) return store_error(name.error());
  const auto job = context.job_store.find(*name);
  if (!job) return store_error(job.error());
  if (!*job) return error_reply(404, "unknown_task", "no task with this task_id");
  return answer(**job);
}

HttpReply status_of_task(const RouteContext& context, const std::string& task_id) {
  return look_up(context, task_id, [&](const JobView& job) {
    return json_reply(200, kernelgym_status(task_id, job));
  });
}

HttpReply result_of_task(const RouteContext& context, const std::string& task_id) {
  return look_up(context, task_id, [&](const JobView& job) {
    const auto compiled = context.job_store.aliases().find(compiled_alias(task_id));
    if (!compiled) return store_error(compiled.error());
    const auto reference =
        *compiled == job.name ? ReferenceBackend::torch_compile : ReferenceBackend::eager;
    return json_reply(200, kernelgym_response(task_id, job, reference));
  });
}

}  // namespace

std::vector<Route> kernelgym_routes(const RouteContext& context) {
  return {{.method = "POST",
           .path = "/evaluate",
           .answer = [&](const HttpCall& call, const auto&) { return evaluate(context, call); }},
          {.method = "GET",
           .path = "/status/{task_id}",
           .answer = [&](const auto&, const auto& id) { return status_of_task(context, id); }},
          {.method = "GET",
           .path = "/results/{task_id}",
           .answer = [&](const auto&, const auto& id) { return result_of_task(context, id); }}};
}

}  // namespace tritonsmith::gym::service
