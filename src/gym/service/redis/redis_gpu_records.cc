#include "gym/service/redis/redis_gpu_records.h"

#include <algorithm>

#include "gym/service/redis/redis_scripts.h"

namespace tritonsmith::gym::service {
namespace {

namespace scripts = redis_scripts;

Json to_json(const QuarantinedGpu& gpu) {
  return {{"gpu", gpu.gpu}, {"device", gpu.device}, {"host", gpu.host}, {"reason", gpu.reason}};
}

// Another program wrote the text, so it may be anything.
Result<QuarantinedGpu> gpu_from(const std::string& text) {
  TRY_ASSIGN(const Json json, parse_json(text));
  JsonReader reader(json);
  QuarantinedGpu gpu{.gpu = reader.string("gpu"),
                     .device = reader.string("device"),
                     .host = reader.string("host"),
                     .reason = reader.string("reason")};
  TRY(reader.status());
  return gpu;
}

}  // namespace

Result<Calibration> RedisGpuRecords::first_calibration(const std::string& gpu,
                                                       const Calibration& now) {
  TRY_ASSIGN(const RedisReply reply,
             client_.run(scripts::kFirstCalibration,
                         {gpu, std::to_string(now.version), to_line(tritonsmith::to_json(now))}));
  TRY_ASSIGN(const Json json, parse_json(reply.text()));
  return calibration_from_json(json);
}

Status RedisGpuRecords::vindicate(const std::string& gpu, Milliseconds age) {
  TRY(client_.run(scripts::kVindicate, {time(), gpu, std::to_string(age.count())}));
  return ok();
}

Result<int> RedisGpuRecords::quarantine(const QuarantinedGpu& gpu) {
  TRY_ASSIGN(const RedisReply reply,
             client_.run(scripts::kQuarantine,
                         {time(), gpu.gpu, gpu.device, gpu.reason, to_line(to_json(gpu))}));
  return static_cast<int>(reply.integer());
}

Result<bool> RedisGpuRecords::clear(const std::string& gpu, FirstCalibration first) {
  TRY_ASSIGN(
      const RedisReply reply,
      client_.run(scripts::kClear, {gpu, first == FirstCalibration::anew ? "anew" : "keep"}));
  return reply.integer() > 0;
}

Result<std::vector<QuarantinedGpu>> RedisGpuRecords::quarantined() const {
  TRY_ASSIGN(const RedisReply reply, client_.run(scripts::kQuarantined, {}));
  std::vector<QuarantinedGpu> gpus;
  for (std::size_t k = 0; k + 2 < reply.size(); k += 3) {
    TRY_ASSIGN(QuarantinedGpu gpu, gpu_from(reply.text_at(k)));
    gpu.since_ms = reply.integer_at(k + 1);
    gpu.doubted_jobs = static_cast<int>(reply.integer_at(k + 2));
    gpus.push_back(std::move(gpu));
  }
  std::ranges::sort(gpus, {}, &QuarantinedGpu::gpu);
  return gpus;
}

}  // namespace tritonsmith::gym::service
