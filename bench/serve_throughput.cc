// Measures what `tritonsmith serve` loses of the bare engine's throughput. The engine makes the same
// completions once for as many requests in flight as there are clients, and once for clients over
// HTTP, whole and streamed. The clients run in this process, too, and take processors from the
// engine. Each line says how much processor time they took themselves.
//   serve_throughput MODEL [clients] [requests] [rounds]
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "base/rng.h"
#include "base/temp_dir.h"
#include "curriculum/suite.h"
#include "generate/engine/engine.h"
#include "gym/api/testing/fake_judge.h"
#include "model/checkpoint/checkpoint.h"
#include "model/config/generation_config.h"
#include "model/config/sums.h"
#include "model/memory/device.h"
#include "serve/web/web_server.h"
#include "text/checkpoint_chat.h"
#include "text/prompt_record.h"
#include "text/tokenizer.h"

namespace tritonsmith {
namespace {

// Aborts with the error's line.
template <typename Value>
Value must(Result<Value> result) {
  CHECK(result.has_value(), "{}", result.error().message);
  return std::move(*result);
}
void must(const Status& status) { CHECK(status.has_value(), "{}", status.error().message); }

// A model directory, as `serve` opens it.
struct Model {
  model::Transformer transformer;
  text::Tokenizer tokenizer;
  std::vector<std::vector<text::Message>> prompts;  // of the quickstart's held-out tasks
  int new_tokens = 0;

  std::unique_ptr<generate::TokenWriter> writer(const std::filesystem::path& directory) const {
    const auto chat = must(text::open_checkpoint_chat(directory, tokenizer, prompts.front()));
    return std::make_unique<generate::TokenWriter>(
        must(generate::engine::make_engine(transformer)),
        generate::ChatCodec(tokenizer, chat.chat,
                            must(model::end_tokens(directory, transformer.config()))));
  }
};

Model open(const std::filesystem::path& directory) {
  Model model{.transformer = must(model::load_model(
                  directory, must(model::open_device(model::DeviceChoice::automatic)))),
              .tokenizer = must(text::Tokenizer::from_file(directory / "tokenizer.json"))};
  model.transformer.set_sums(model::Sums::equal);
  const auto asked = must(text::read_prompt_record(directory)).value_or(text::PromptRecord());
  for (const Task& task : must(curriculum::load_suite("quickstart")))
    model.prompts.push_back(text::prompt_for(task, asked.prompt));
  model.new_tokens = asked.max_new_tokens > 0 ? asked.max_new_tokens : 320;
  return model;
}

// Holds the cost of one round of requests.
struct Took {
  double seconds = 0, cpu_seconds = 0;
  double client_seconds = 0;  // of the processor time: the clients' part
  std::int64_t tokens = 0;
};

double cpu_seconds_of_this_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Watch {
 public:
  Took took(std::int64_t tokens) const {
    return {.seconds = watch_.seconds(),
            .cpu_seconds = static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC,
            .tokens = tokens};
  }

 private:
  Stopwatch watch_;
  std::clock_t cpu_ = std::clock();
};

struct Load {
  const Model& model;
  int clients = 64, requests = 512;
};

Took by_engine(generate::Writer& writer, const Load& load) {
  const Watch watch;
  int begun = 0;
  std::int64_t tokens = 0;
  const auto begin = [&] {
    const auto number = static_cast<std::uint64_t>(begun++);
    must(writer.submit({.id = number,
                        .messages = load.model.prompts[number % load.model.prompts.size()],
                        .sampling = {.temperature = 1, .max_new_tokens = load.model.new_tokens},
                        .seed = Rng(number, "serve", 0).next_u64()}));
  };
  while (begun < std::min(load.clients, load.requests)) begin();
  for (int ended = 0; ended < load.requests; ++ended) {
    const auto written = must(writer.next_by(Deadline::never()));
    tokens += written->completion.usage.completion_tokens;
    if (begun < load.requests) begin();
  }
  return watch.took(tokens);
}

Json call_of(const Load& load, int number, bool is_streamed) {
  Json messages = Json::array();
  const auto& prompts = load.model.prompts;
  for (const text::Message& each : prompts[static_cast<std::size_t>(number) % prompts.size()])
    messages.push_back({{"role", name_of(each.role)}, {"content", each.content}});
  Json call = {{"model", "small"},
               {"messages", std::move(messages)},
               {"temperature", 1.0},
               {"seed", number},
               {"stream", is_streamed}};
  if (is_streamed) call["stream_options"] = {{"include_usage", true}};
  return call;
}

// Returns the completion tokens of a reply, whole or streamed: the last number of that name.
std::int64_t tokens_of(const std::string& body) {
  constexpr std::string_view name = "\"completion_tokens\":";
  const std::size_t at = body.rfind(name);
  CHECK(at != std::string::npos, "{}", body);
  return std::atoll(body.c_str() + at + name.size());
}

Took by_clients(int port, const Load& load, bool is_streamed) {
  const Watch watch;
  std::atomic<int> begun = 0;
  std::atomic<std::int64_t> tokens = 0;
  std::atomic<double> client_seconds = 0;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < load.clients; ++i)
      clients.emplace_back([&] {
        for (int number = begun++; number < load.requests; number = begun++) {
          httplib::Client client("127.0.0.1", port);
          client.set_read_timeout(600);
          const auto reply =
              client.Post("/v1/chat/completions", call_of(load, number, is_streamed).dump(),
                          "application/json");
          CHECK(reply && reply->status == 200, "{}", reply ? reply->body : "no reply");
          tokens += tokens_of(reply->body);
        }
        client_seconds += cpu_seconds_of_this_thread();
      });
  }
  Took took = watch.took(tokens);
  took.client_seconds = client_seconds;
  return took;
}

// A server over the writer, whose judge refuses everything.
class Server {
 public:
  Server(generate::TokenWriter& writer, const Model& model)
      : gym_([](const gym::api::JudgeJob&) { return Verdict(); }),
        judge_(gym_),
        shared_(writer, &writer),
        assistant_(must(serve::assistant::Assistant::open(
            std::filesystem::path(folder_.path()) / "searches.sqlite", {},
            {.judge = judge_, .words = [](const Verdict&) { return ""; }}))),
        routes_({.models = {{.name = "small",
                             .model = shared_,
                             .tokenizer = &model.tokenizer,
                             .default_tokens = model.new_tokens}},
                 .limits = {},
                 .assistant = *assistant_,
                 .judge = judge_}),
        server_(must(serve::web::WebServer::start({.address = {"127.0.0.1", 0}}, routes_))) {}
  int port() const { return server_->port(); }

 private:
  TempDir folder_ = must(TempDir::make("serve-throughput"));
  gym::api::FakeJudge gym_;
  serve::assistant::SharedJudge judge_;
  serve::openai::SharedModel shared_;
  std::unique_ptr<serve::assistant::Assistant> assistant_;
  serve::web::Routes routes_;
  std::unique_ptr<serve::web::WebServer> server_;
};

void tell(const char* name, const Took& took, const Took& engine) {
  const auto rate = [](const Took& of) { return static_cast<double>(of.tokens) / of.seconds; };
  const auto cpu = [](const Took& of) { return static_cast<double>(of.tokens) / of.cpu_seconds; };
  fmt::print(
      "{:<9} {:>7} tokens: {:6.0f} tokens/s ({:+5.1f} %), {:6.0f} a CPU second ({:+5.1f} %), "
      "clients {:.1f} % of the CPU time\n",
      name, took.tokens, rate(took), 100 * (rate(took) / rate(engine) - 1), cpu(took),
      100 * (cpu(took) / cpu(engine) - 1), 100 * took.client_seconds / took.cpu_seconds);
}

// Returns the round whose wall time is the median.
Took median(std::vector<Took> rounds) {
  std::ranges::sort(rounds, {}, &Took::seconds);
  return rounds[rounds.size() / 2];
}

void run(const std::filesystem::path& directory, int clients, int requests, int rounds) {
  const Model model = open(directory);
  const Load load{.model = model, .clients = clients, .requests = requests};
  std::vector<Took> engine, whole, streamed;
  by_engine(*model.writer(directory), load);  // memory and kernels are made once
  for (int round = 0; round < rounds; ++round) {
    const auto bare = model.writer(directory), shared = model.writer(directory);
    engine.push_back(by_engine(*bare, load));
    const Server server(*shared, model);
    whole.push_back(by_clients(server.port(), load, false));
    streamed.push_back(by_clients(server.port(), load, true));
    tell("engine", engine.back(), engine.back());
    tell("served", whole.back(), engine.back());
    tell("streamed", streamed.back(), engine.back());
  }
  fmt::print("medians of {} rounds, {} clients, {} requests\n", rounds, clients, requests);
  tell("engine", median(engine), median(engine));
  tell("served", median(whole), median(engine));
  tell("streamed", median(streamed), median(engine));
}

}  // namespace
}  // namespace tritonsmith

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: serve_throughput MODEL [clients] [requests] [rounds]\n");
    return 2;
  }
  const auto argument = [&](int i, int fallback) {
    return argc > i ? std::atoi(argv[i]) : fallback;
  };
  tritonsmith::run(argv[1], argument(2, 64), argument(3, 512), argument(4, 5));
}
