// Answers at the endpoints of `tritonsmith serve`, as functions from a request to a reply, without
// sockets:
//
//   GET  /                       the page, and its files            without a token
//   GET  /health                 whether the model works            without a token
//   GET  /v1/models              OpenAI's protocol
//   GET  /v1/models/NAME         one of them
//   POST /v1/chat/completions    NAME, and NAME-verified
//   POST /v1/completions         NAME
//   GET  /metrics                Prometheus' text form
//   GET  /api/info               what the page must know
//   GET  /api/tasks              modules that the page offers
//   GET  /api/searches           the caller's searches
//   POST /api/searches           a new search, or a judgement       (search_order.h)
//   GET  /api/searches/ID        with its attempts
//   GET  /api/searches/ID/events the same as events, until it ends
//   POST /api/searches/ID/stop
//   GET  /api/searches/ID/patch/N   attempt N as a replacement of the module, and its test
//   GET  /api/runs               the runs, if the server shows any
//   GET  /api/runs/NAME          one of them
//   GET  /api/samples/N/NAME     the conversation of its sample N
//
// A server without a model judges, and shows searches and runs. It refuses what a model would write.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "serve/assistant/assistant.h"
#include "serve/openai/model_reply.h"
#include "serve/runs/run_library.h"

namespace tritonsmith::serve::web {

struct WebCall {
  std::string method, path, body;
  std::string owner;  // the name of the caller's token; empty without tokens
};

struct WebReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  int retry_after_seconds = 0;
  std::string allow;  // of a refused method: those that the path has, as "GET, HEAD"
  std::unique_ptr<openai::ReplyStream> stream;  // instead of a body
  // Whether the stream's parts are sent as they come. Otherwise the status is sent once the whole
  // body exists, so that a failure still has a status of its own.
  bool is_streamed = true;
};

struct WebParts {
  std::vector<openai::ServedModel> models;  // none: the server judges, and shows searches and runs
  openai::CallLimits limits;
  assistant::Assistant& assistant;
  assistant::SharedJudge& judge;
  std::string judged_by;             // why verdicts have no times: "this machine has no GPU"
  bool may_time = true;              // false: the judge has no GPU, and measures no speed
  std::vector<Task> suite;           // modules that the page offers
  runs::RunLibrary* runs = nullptr;  // null: the server shows no runs
};

class Routes {
 public:
  explicit Routes(WebParts parts) : parts_(std::move(parts)) {}

  // A path that is known under other methods than the call's gets 405 with these methods.
  WebReply answer(const WebCall& call) const;
  // Says whether the path is answered without a key.
  static bool is_public(std::string_view path);

 private:
  struct Endpoint {
    std::string_view pattern;  // of its paths, such as "/api/searches/*"
    std::vector<std::string_view> methods;
    WebReply (Routes::*answer)(const WebCall&) const;
    bool is_public = false;
  };
  // Returns the one list of all that the server answers.
  static std::span<const Endpoint> endpoints();

  WebReply page(const WebCall& call) const;
  WebReply icon(const WebCall& call) const;
  WebReply chat(const WebCall& call) const;
  WebReply completion(const WebCall& call) const;
  WebReply searches(const WebCall& call) const;
  WebReply order(const WebCall& call) const;
  WebReply search(const WebCall& call) const;
  WebReply patch(const std::string& search, const std::string& attempt) const;
  WebReply run(const WebCall& call) const;
  WebReply models(const WebCall& call) const;
  WebReply info(const WebCall& call) const;
  WebReply tasks(const WebCall& call) const;
  WebReply health(const WebCall& call) const;
  WebReply metrics(const WebCall& call) const;
  const openai::ServedModel* model_named(std::string_view name) const;
  WebReply no_such_model(const std::string& name, const std::string& path) const;

  WebParts parts_;
};

WebReply refusal(const openai::CallError& error);

}  // namespace tritonsmith::serve::web
