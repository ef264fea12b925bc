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

// The verdicts of one client, until no more are due or for ever.
class VerdictStream : public ReplyStream {
 public:
  struct Request {
    std::string client;
    std::int64_t after = 0;
    bool until_idle = false;
  };

  VerdictStream(const RouteContext& context, Request request)
      : context_(context), request_(std::move(request)) {}

  std::string next(Milliseconds patience) override {
    constexpr int at_once = 100;
    JobStore& store = context_.job_store;
    const Deadline deadline = Deadline::after(patience);
    while (true) {
      const std::uint64_t seen = store.changes();  // read before the stop, which is a change
      if (context_.stopping.stop_requested()) return {};
      // Asks for this number first: verdicts that arrive in between are then among the events.
      const auto awaited = store.awaited_by(request_.client);
      const auto events = store.events(request_.client, request_.after, at_once);
      if (!events || !awaited) return {};
      std::string text;
      for (const VerdictEvent& event : *events) {
        text += fmt::format("id: {}-{}\nevent: verdict\ndata: {{\"id\":\"{}\",\"verdict\":{}}}\n\n",
                            store.epoch(), event.number, event.job, event.verdict);
        request_.after = event.number;
      }
      if (!text.empty()) return text;
      if (request_.until_idle && *awaited == 0) return {};
      if (deadline.passed()) return ": still here\n\n";
      store.wait_for_change(seen, deadline);
    }
  }

 private:
  const RouteContext& context_;
  Request request_;
};

HttpReply verdicts(const RouteContext& context, const HttpCall& call) {
  const std::string client = call.parameter("client");
  if (!api::is_client_name(client))
    return error_reply(400, "bad_request", "client=NAME says whose verdicts to stream");
  const std::string last = call.header("last-event-id");
  const std::string after = last.empty() ? call.parameter("after") : last;
  HttpReply reply{.content_type = "text/event-stream"};
  reply.stream = std::make_shared<VerdictStream>(
      context, VerdictStream::Request{.client = client,
                                      .after = number_of_event(after, context.job_store.epoch()),
                                      .until_idle = call.parameter("until") == "idle"});
  return reply;
}

}  // namespace

std::vector<Route> verdict_routes(const RouteContext& context) {
  return {{.method = "GET",
           .path = "/v1/verdicts",
           .answer = [&](const HttpCall& call, const auto&) { return verdicts(context, call); }}};
}

}  // namespace tritonsmith::gym::service
