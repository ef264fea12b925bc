// Fuzzes whole requests to `serve`: chats, completions, lists of models, and the page's orders of
// searches. Each line is a request: a letter for its route, and its body or path. `ID` in a path is
// the newest search. The models are `small`, whose tokens are known, and `remote`. Whatever the body,
// no reply is a fault of the server. A reply is JSON, and so is each event of a stream. A refusal has
// a reason, and a whole reply has as many choices as were asked for.
// No search runs: searches wait until a request or the end stops them. An order with calls of its own
// starts a Python, which is too slow here; such orders are only read.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/event_stream.h"
#include "generate/testing/scripted_writer.h"
#include "gym/api/testing/fake_judge.h"
#include "serve/openai/testing/stepping_engine.h"
#include "serve/web/routes.h"
#include "text/testing/small_tokenizer.h"

namespace {

using namespace tritonsmith;
using namespace tritonsmith::serve;
using openai::ReplyStream;
using web::WebCall;
using web::WebReply;

// Lives as long as the program, and remembers nothing between two inputs.
struct Machine {
  text::Tokenizer tokenizer = text::small_tokenizer();
  text::ChatTemplate chat = *text::ChatTemplate::make(tokenizer);
  std::atomic<int> interruptions = 0;
  generate::TokenWriter small{std::make_unique<openai::SteppingEngine>(answer(), interruptions),
                              generate::ChatCodec(tokenizer, chat)};
  generate::ScriptedWriter remote{[](const auto&) { return "x = é END 2"; }};
  openai::SharedModel small_model{small, &small}, remote_model{remote};
  gym::api::FakeJudge gym{[](const auto&) { return gym::api::accepted_verdict(); }};
  assistant::SharedJudge judge{gym};

  std::vector<TokenId> answer() const {
    auto tokens = tokenizer.encode("é = END 2");
    tokens.push_back(chat.stop_token());
    return tokens;
  }
};

Machine& machine() {
  static auto* machine = new Machine;
  return *machine;
}

bool has_calls(const Json& order) {
  const auto read = assistant::order_from_json(order);
  return read && read->has_calls();
}

class Client {
 public:
  Client() {
    const auto prompt = [](const Task& task) {
      return std::vector<text::Message>{{text::Role::user, task.source}};
    };
    auto opened = assistant::Assistant::open(
        {}, {.searches = 0},
        {.models = {{.name = "small", .model = machine().small_model, .prompt = prompt},
                    {.name = "remote", .model = machine().remote_model, .prompt = prompt}},
         .judge = machine().judge,
         .words = [](const Verdict&) { return "words"; }});
    CHECK(opened, "{}", opened.error().message);
    assistant_ = *std::move(opened);
    routes_.emplace(web::WebParts{
        .models = {{.name = "small",
                    .model = machine().small_model,
                    .tokenizer = &machine().tokenizer},
                   {.name = "remote", .model = machine().remote_model}},
        .limits = {.choices = 4},
        .assistant = *assistant_,
        .judge = machine().judge,
        .judged_by = "no GPU",
        .suite = {{.id = "twice", .source = "class Model: pass\n", .instruction = "Do it."}}});
  }

  void send(char letter, const std::string& text) {
    constexpr std::string_view letters = "cposg";
    std::size_t route = letters.find(letter);
    if (route == std::string_view::npos)
      route = static_cast<unsigned char>(letter) % letters.size();
    switch (letters[route]) {
      case 'c':
        return chat(text);
      case 'p':
        return check_choices(prompts_in(text), text, call("POST", "/v1/completions", text));
      case 'o':
        return order(text);
      case 's':
        call("POST", "/api/searches/" + (text == "ID" ? id_ : text) + "/stop", "");
        return;
      default:
        call("GET", path_of(text), "");
    }
  }

 private:
  static Json object(const std::string& text) {
    auto json = parse_json(text);
    return json && json->is_object() ? *std::move(json) : Json::object();
  }

  void chat(const std::string& body) {
    if (has_calls(object(body).value("tritonsmith", Json()))) return;
    check_choices(1, body, call("POST", "/v1/chat/completions", body));
  }

  void order(const std::string& body) {
    const Json json = object(body);
    if (has_calls(json)) return;
    const Json reply = object(call("POST", "/api/searches", body));
    if (!reply.contains("id")) return;
    id_ = reply["id"];
    const Json shown = object(call("GET", "/api/searches/" + id_, ""));
    const Json& stored = shown.at("search").at("order");
    CHECK(assistant::order_from_json(stored), "an order that no later server reads");
    CHECK(json.value("source", Json("")) == stored.at("source"), "another source was stored");
  }

  std::string path_of(std::string path) const {
    if (const std::size_t at = path.find("ID"); at != std::string::npos) path.replace(at, 2, id_);
    return path;
  }

  // Returns the body of a whole reply. A search that waits has none.
  std::string call(const std::string& method, const std::string& path, const std::string& body) {
    WebReply reply = routes_->answer({.method = method, .path = path, .body = body});
    CHECK(reply.status >= 200 && reply.status < 500, "status {}", reply.status);
    const bool is_json = reply.content_type == "application/json";
    const Json model = object(body).value("model", Json());
    const bool is_search = path.ends_with("/events") ||
                           (model.is_string() && model.get<std::string>().ends_with("-verified"));
    if (reply.stream) finish(*reply.stream, is_search, reply.body);
    if (reply.stream && !is_json) check_events(reply.body, !is_search);
    if (reply.stream && is_search) return "";
    if (!is_json) return "";
    const auto json = parse_json(reply.body);
    CHECK(json, "'{}' is no JSON", reply.body);
    CHECK(reply.status < 400 || !json->at("error").at("message").empty(),
          "refused without a reason");
    return reply.status < 400 ? reply.body : "";
  }

  // A search waits for ever, so its reply has a beginning alone.
  static void finish(ReplyStream& stream, bool is_search, std::string& body) {
    const Deadline deadline = Deadline::after(Milliseconds(is_search ? 0 : 5000));
    for (;;) {
      const auto state = stream.next(body, deadline);
      CHECK(state != ReplyStream::State::broken, "{}", stream.error().message);
      if (is_search || state == ReplyStream::State::done) return;
      CHECK(!deadline.passed(), "a reply without end");
    }
  }

  static void check_events(const std::string& text, bool has_end) {
    bool ended = false;
    EventStreamReader reader([&](const ServerEvent& event) {
      ended = event.data == "[DONE]";
      CHECK(ended || parse_json(event.data), "'{}' is no JSON", event.data);
    });
    CHECK(reader.feed(text), "no event stream: {}", text);
    CHECK(!has_end || ended, "a stream without its end");
  }

  static std::size_t prompts_in(const std::string& body) {
    const Json prompt = object(body).value("prompt", Json());
    const bool is_list = prompt.is_array() && !prompt.empty() && !prompt.front().is_number();
    return is_list ? prompt.size() : 1;
  }

  static void check_choices(std::size_t prompts, const std::string& body,
                            const std::string& reply) {
    if (reply.empty()) return;
    const Json json = object(reply), n = object(body).value("n", Json());
    const std::size_t expected = prompts * (n.is_null() ? 1 : n.get<std::size_t>());
    CHECK(json.at("choices").size() == expected, "{} choices", json.at("choices").size());
    for (const Json& choice : json.at("choices"))
      CHECK(choice.contains("text") || choice.at("message").at("content").is_string(),
            "a choice without text");
  }

  std::unique_ptr<assistant::Assistant> assistant_;
  std::optional<web::Routes> routes_;
  std::string id_ = "none";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Client client;
  constexpr int kMostRequests = 8;
  for (int i = 0; i < kMostRequests && !text.empty(); ++i) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty()) client.send(line[0], std::string(line.substr(1)));
  }
  return 0;
}
