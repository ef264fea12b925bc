#include "gym/service/redis/redis_worker_reports.h"

#include <algorithm>

#include "base/json.h"
#include "gym/service/redis/redis_scripts.h"

namespace tritonsmith::gym::service {
namespace {

namespace scripts = redis_scripts;

Json to_json(const std::string& name, const WorkerView& worker) {
  return {{"name", name},
          {"host", worker.host},
          {"role", worker.role},
          {"devices", worker.devices},
          {"gpus", worker.gpus},
          {"at_once", worker.at_once},
          {"running", worker.running},
          {"version", worker.version},
          {"trouble", worker.trouble}};
}

// Another program wrote the text, so it may be anything. A worker that cannot be read is left out.
std::optional<WorkerView> worker_from(const std::string& text, std::int64_t seen_ms) {
  const auto json = parse_json(text);
  if (!json || !json->is_object()) return std::nullopt;
  JsonReader reader(*json);
  WorkerView worker{.name = reader.string("name"), .host = reader.string("host")};
  worker.role = reader.string("role", "all");
  worker.devices = reader.strings("devices");
  worker.gpus = reader.strings("gpus");
  worker.at_once = static_cast<int>(reader.integer("at_once", 0));
  worker.running = static_cast<int>(reader.integer("running", 0));
  worker.version = reader.string("version", "");
  worker.trouble = reader.string("trouble", "");
  worker.seen_ms = seen_ms;
  return reader.status() ? std::optional(std::move(worker)) : std::nullopt;
}

}  // namespace

Status RedisWorkerReports::announce(const Lease& lease, const WorkerView& worker) {
  TRY(client_.run(scripts::kAnnounce, {time(), lease.worker, std::to_string(lease.span.count()),
                                       to_line(to_json(lease.worker, worker))}));
  return ok();
}

Status RedisWorkerReports::depart(const std::string& worker) {
  TRY(client_.run(scripts::kDepart, {worker}));
  return ok();
}

Result<std::vector<WorkerView>> RedisWorkerReports::workers() const {
  TRY_ASSIGN(const RedisReply reply, client_.run(scripts::kWorkers, {time()}));
  std::vector<WorkerView> views;
  for (std::size_t k = 0; k + 1 < reply.size(); k += 2)
    if (auto worker = worker_from(reply.text_at(k), reply.integer_at(k + 1)))
      views.push_back(*std::move(worker));
  std::ranges::sort(views, {}, &WorkerView::name);
  return views;
}

}  // namespace tritonsmith::gym::service
