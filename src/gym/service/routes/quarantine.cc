// /v1/quarantine: the GPUs that judge no more until an operator says so.
#include <algorithm>

#include "gym/service/routes/routes.h"

namespace tritonsmith::gym::service {
namespace {

// A UUID of a GPU, or whatever else a driver calls one.
bool is_gpu_name(const std::string& name) { return api::is_client_name(name); }

HttpReply not_an_operator() {
  return error_reply(403, "not_an_operator",
                     "this token may not change the quarantine: give it `operator = true` in the "
                     "file of tokens");
}

HttpReply list(const RouteContext& context) {
  const auto gpus = context.job_store.gpus().quarantined();
  if (!gpus) return store_error(gpus.error());
  return json_reply(200, {{"gpus", to_json(*gpus)}});
}

// Completes the record by what the GPU's worker says of itself. Returns whether there is one.
Result<bool> look_up(const RouteContext& context, QuarantinedGpu& gpu) {
  TRY_ASSIGN(const auto workers, context.job_store.reports().workers());
  const auto worker = std::ranges::find_if(workers, [&](const WorkerView& each) {
    return std::ranges::find(each.gpus, gpu.gpu) != each.gpus.end();
  });
  if (worker == workers.end()) return false;
  gpu.host = worker->host;
  gpu.device = worker->devices.empty() ? "" : worker->devices.back();
  return true;
}

HttpReply add(const RouteContext& context, const HttpCall& call) {
  if (!call.is_operator) return not_an_operator();
  const auto json = parse_json(call.body);
  if (!json) return error_reply(400, "bad_request", json.error().message);
  JsonReader reader(*json);
  QuarantinedGpu gpu{.gpu = reader.string("gpu"),
                     .reason = reader.string("reason", "an operator said so")};
  if (const Status read = reader.status(); !read)
    return error_reply(400, "bad_request", read.error().message);
  if (!is_gpu_name(gpu.gpu))
    return error_reply(400, "bad_request",
                       "gpu: must be a GPU's UUID, as in /v1/status: 1 to 100 letters, digits, "
                       "'.', '_' and '-'");
  const auto known = look_up(context, gpu);
  if (!known) return store_error(known.error());
  const auto doubted = context.job_store.gpus().quarantine(gpu);
  if (!doubted) return store_error(doubted.error());
  return json_reply(
      200,
      {{"gpu", gpu.gpu}, {"host", gpu.host}, {"is_known", *known}, {"doubted_jobs", *doubted}});
}

HttpReply clear(const RouteContext& context, const HttpCall& call, const std::string& gpu) {
  if (!call.is_operator) return not_an_operator();
  const std::string calibration = call.parameter("calibration");
  if (!calibration.empty() && calibration != "keep" && calibration != "anew")
    return error_reply(400, "bad_request", "calibration: must be keep or anew");
  const auto cleared = context.job_store.gpus().clear(
      gpu, calibration == "anew" ? FirstCalibration::anew : FirstCalibration::keep);
  if (!cleared) return store_error(cleared.error());
  if (!*cleared)
    return error_reply(404, "not_in_quarantine",
                       fmt::format("the GPU '{}' is in no quarantine", gpu));
  return json_reply(200, {{"gpu", gpu}});
}

}  // namespace

Json to_json(const std::vector<QuarantinedGpu>& gpus) {
  Json list = Json::array();
  for (const QuarantinedGpu& gpu : gpus)
    list.push_back({{"gpu", gpu.gpu},
                    {"device", gpu.device},
                    {"host", gpu.host},
                    {"reason", gpu.reason},
                    {"since_ms", gpu.since_ms},
                    {"doubted_jobs", gpu.doubted_jobs}});
  return list;
}

std::vector<Route> quarantine_routes(const RouteContext& context) {
  return {{.method = "GET",
           .path = "/v1/quarantine",
           .answer = [&](const auto&, const auto&) { return list(context); }},
          {.method = "POST",
           .path = "/v1/quarantine",
           .answer = [&](const HttpCall& call, const auto&) { return add(context, call); }},
          {.method = "DELETE",
           .path = "/v1/quarantine/{gpu}",
           .answer = [&](const auto& call, const auto& gpu) { return clear(context, call, gpu); }}};
}

}  // namespace tritonsmith::gym::service
