// /v1/verdicts: a client's verdicts as server-sent events.
#include <algorithm>
#include <charconv>

#include "gym/service/routes/routes.h"

namespace tritonsmith::gym::service {
namespace {

// Reads "EPOCH-NUMBER". An id of another epoch starts from the beginning.
std::int64_t number_of_event(const std::string& id, const std::string& epoch) {
  if (!id.starts_with(epoch + "-")) return 0;
  std::int64_t number = 0;
  std::from_chars(id.data() + epoch.size() + 1, id.data() + id.size(), number);
  return std::max<std::int64_t>(number, 0);
}

HttpReply verdicts(const RouteContext& context, const HttpCall& call) {
  const std::string client = call.parameter("client");
  if (!api::is_client_name(client))
    return error_reply(400, "bad_request", "client=NAME says whose verdicts to stream");
  const std::string after =
      call.last_event_id.empty() ? call.parameter("after") : call.last_event_id;
  HttpReply reply{.content_type = "text/event-stream"};
  reply.stream = StreamRequest{.client = client,
                               .after = number_of_event(after, context.job_store.epoch()),
                               .until_idle = call.parameter("until") == "idle"};
  return reply;
}

}  // namespace

std::vector<Route> verdict_routes(const RouteContext& context) {
  return {{.method = "GET",
           .path = "/v1/verdicts",
           .answer = [&](const HttpCall& call, const auto&) { return verdicts(context, call); }}};
}

std::string next_events(const RouteContext& context, StreamRequest& stream, Milliseconds patience) {
  constexpr int at_once = 100;
  JobStore& store = context.job_store;
  const Deadline deadline = Deadline::after(patience);
  while (true) {
    const std::uint64_t seen = store.changes();  // read before the stop, which is a change
    if (context.stopping.stop_requested()) return {};
    // Asks for this number first: verdicts that arrive in between are then among the events.
    const auto awaited = store.awaited_by(stream.client);
    const auto events = store.events(stream.client, stream.after, at_once);
    if (!events || !awaited) return {};
    std::string text;
    for (const VerdictEvent& event : *events) {
      text += fmt::format("id: {}-{}\nevent: verdict\ndata: {{\"id\":\"{}\",\"verdict\":{}}}\n\n",
                          store.epoch(), event.number, event.job, event.verdict);
      stream.after = event.number;
    }
    if (!text.empty()) return text;
    if (stream.until_idle && *awaited == 0) return {};
    if (deadline.passed()) return ": still here\n\n";
    store.wait_for_change(seen, deadline);
  }
}

}  // namespace tritonsmith::gym::service
