// Service: what `gym serve` answers to each HTTP call, as a function of the call and the docket;
// sockets are elsewhere (http_server.h). Any thread; a call waits only where the caller asked it
// to. The API is docs/openapi.json, explained in docs/service.md.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "gym/service/job_dispatcher.h"
#include "gym/service/job_store.h"
#include "gym/service/service_metrics.h"

namespace tritonsmith::gym::service {

struct HttpCall {
  std::string method, path;
  std::map<std::string, std::string> query;
  std::string last_event_id;  // the header
  std::string body;
};

// Verdicts of one client, until there are no more to come or for ever.
struct StreamRequest {
  std::string client;
  std::int64_t after = 0;
  bool until_idle = false;
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  int retry_after_seconds = 0;
  std::optional<StreamRequest> stream;  // instead of a body
};

// {"error": {"code": "...", "message": "..."}}, one line.
HttpReply error_reply(int status, std::string_view code, std::string_view message);

class Service {
 public:
  // Answers calls that the service itself does not know; nothing where it does not know one either.
  using FurtherCalls = std::function<std::optional<HttpReply>(const HttpCall& call)>;

  Service(JobStore& job_store, const JobDispatcher& dispatcher, ServiceMetrics& metrics,
          api::SubmissionLimits limits)
      : job_store_(job_store), dispatcher_(dispatcher), metrics_(metrics), limits_(limits) {}

  HttpReply answer(const HttpCall& call);
  // Before the first call: what is asked beyond judging, which the gym knows nothing of.
  void extend(FurtherCalls further) { further_ = std::move(further); }
  // Answered to anybody.
  static bool is_public(const std::string& path);

  // The next piece of a stream: verdicts, a sign of life, or nothing when it is over. Waits for at
  // most `patience`.
  std::string next_events(StreamRequest& stream, Milliseconds patience);
  // Lets everybody go who waits, for good.
  void stop();

 private:
  HttpReply submit(const HttpCall& call);
  HttpReply show(const std::string& name, const HttpCall& call);
  HttpReply cancel(const std::string& name, const HttpCall& call);
  HttpReply cancel_all(const HttpCall& call);
  HttpReply dismiss(const std::string& client);
  HttpReply verdicts(const HttpCall& call) const;
  HttpReply status() const;
  HttpReply health() const;
  HttpReply evaluate(const HttpCall& call);
  HttpReply kernelgym_lookup(const HttpCall& call);
  Result<std::optional<JobView>> await(const std::string& name, double seconds);

  JobStore& job_store_;
  const JobDispatcher& dispatcher_;
  ServiceMetrics& metrics_;
  api::SubmissionLimits limits_;
  FurtherCalls further_ = [](const HttpCall&) { return std::nullopt; };
  std::stop_source stopping_;
};

// docs/openapi.json.
std::string_view openapi_document();

}  // namespace tritonsmith::gym::service
