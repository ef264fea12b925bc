// SharedModel: one writer for many callers at once. Its thread owns the writer, so all requests in
// flight share the engine's batch, and a new one joins at the next decode step. Each caller has a
// ModelClient of its own.
//
// When the writer breaks, every client gets its error, and so does every later request.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "generate/token_writer.h"

namespace tritonsmith::serve::openai {

// A piece of a request's text, or its end.
struct ModelEvent {
  std::uint64_t id = 0;
  std::string piece;
  bool is_restart = false;  // the pieces so far count for nothing
  std::optional<generate::Written> written;
};

struct ModelLoad {
  std::uint64_t running = 0;  // requests in flight
  std::uint64_t finished = 0, cancelled = 0;
  std::uint64_t prompt_tokens = 0, completion_tokens = 0;  // of the finished ones
};

class ModelClient;

class SharedModel {
 public:
  // The writer must outlive the model. `tokens` is the same writer if it takes token ids.
  explicit SharedModel(generate::Writer& writer, generate::TokenWriter* tokens = nullptr);
  ~SharedModel();  // no client may be left

  std::unique_ptr<ModelClient> connect();
  ModelLoad load() const;
  std::optional<Error> error() const;
  bool takes_tokens() const { return tokens_ != nullptr; }
  std::optional<std::int64_t> context_length() const { return context_length_; }
  // Runs a function on the thread that owns the writer, and waits for it.
  void run(std::function<void()> function);

 private:
  friend class ModelClient;
  struct Mailbox;
  struct Flight {
    std::shared_ptr<Mailbox> mailbox;
    std::uint64_t id = 0;  // the client's
  };
  void loop(const std::stop_token& stop);
  void take_tasks(const std::stop_token& stop);
  void deliver(generate::Written written);
  void break_down(const Error& error);
  // The functions below run on the loop's thread.
  std::uint64_t begin(const std::shared_ptr<Mailbox>& mailbox, std::uint64_t id);
  void cancel(const std::shared_ptr<Mailbox>& mailbox, std::optional<std::uint64_t> id);

  generate::Writer& writer_;
  generate::TokenWriter* tokens_;
  std::optional<std::int64_t> context_length_;
  std::map<std::uint64_t, Flight> flights_;  // by the writer's id; of the loop's thread
  std::uint64_t next_id_ = 0;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> tasks_;
  std::optional<Error> broken_;
  ModelLoad load_;
  std::jthread thread_;
};

// A Writer over a SharedModel. One thread uses it; its requests end with it.
class ModelClient : public generate::Writer {
 public:
  explicit ModelClient(SharedModel& model);
  ~ModelClient() override;

  Status submit(generate::WriteRequest request) override;
  // Only where the model takes tokens.
  Status submit(generate::TokenRequest request);
  // Returns the next piece or completion; nothing at the deadline, or when nothing is in flight.
  // Pieces come only from requests that have an on_text, which this function does not call.
  Result<std::optional<ModelEvent>> next_event(Deadline deadline);
  Result<std::optional<generate::Written>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  bool has_room(std::span<const text::Message> messages,
                const generate::SamplingParams& sampling) const override;
  std::optional<std::int64_t> context_length() const override { return model_.context_length(); }

 private:
  Result<std::optional<ModelEvent>> take_event(Deadline deadline);
  template <typename Request>
  Status submit_to(generate::Writer& writer, Request request);
  struct Listener {
    std::function<void(std::string_view)> on_text;
    std::function<void()> on_restart;
  };
  SharedModel& model_;
  std::shared_ptr<SharedModel::Mailbox> mailbox_;
  std::map<std::uint64_t, Listener> listeners_;  // of the requests in flight
};

}  // namespace tritonsmith::serve::openai
