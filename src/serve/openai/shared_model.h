// SharedModel: one writer for many callers at once. Its thread owns the writer, so all requests in
// flight share the engine's batch, and a new one joins at the next decode step. Each caller has a
// ModelClient of its own.
//
// The engine waits while its thread does anything else. So the clients' threads tokenize prompts and
// turn tokens into text. The engine's thread hands tokens over a few times a second.
//
// When the writer breaks, every client gets its error, and so does every request of the next seconds.
// After them a writer that can recover is tried again.
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
#include "serve/openai/token_text.h"

namespace tritonsmith::serve::openai {

// A piece of a request's text, or its end.
struct ModelEvent {
  std::uint64_t id = 0;
  std::string piece;
  // The tokens of the piece, where the engine gives their log-probabilities at once.
  std::vector<TokenText> tokens;
  bool is_restart = false;  // the pieces so far count for nothing
  std::optional<generate::Written> written;
};

struct ModelLoad {
  std::uint64_t running = 0;  // requests in flight
  std::uint64_t finished = 0, cancelled = 0;
  std::uint64_t prompt_tokens = 0, completion_tokens = 0;  // of the finished ones
  ModelLoad& operator+=(const ModelLoad& other);
};

// Returns how long each of so many requests in flight gathers text for its next piece.
Milliseconds between_pieces(std::int64_t requests, std::int64_t processors);

class ModelClient;

class SharedModel {
 public:
  // The writer must outlive the model. `tokens` is the same writer if it takes token ids.
  explicit SharedModel(generate::Writer& writer, generate::TokenWriter* tokens = nullptr);
  ~SharedModel();  // no client may be left

  std::unique_ptr<ModelClient> connect();
  ModelLoad load() const;
  // Returns what broke the writer. Returns nothing once a later completion is finished.
  std::optional<Error> error() const;
  bool takes_tokens() const { return tokens_ != nullptr; }
  std::optional<std::int64_t> context_length() const { return context_length_; }
  // Runs a function on the thread that owns the writer, and waits for it.
  void run(std::function<void()> function);

 private:
  friend class ModelClient;
  struct Delivery;
  struct Mailbox;
  struct PendingRequest;
  void loop(const std::stop_token& stop);
  void take_tasks(const std::stop_token& stop);
  // The functions below run on the loop's thread.
  Status work();
  void end(std::uint64_t own_id, const Usage& usage, Delivery delivery);
  void hand_over();
  void break_down(const Error& error);
  void cancel(const std::shared_ptr<Mailbox>& mailbox, std::optional<std::uint64_t> id);

  // Runs `begin` on the loop's thread, with the writer's id of the request.
  Status submit(const std::shared_ptr<PendingRequest>& pending,
                const std::function<Status(std::uint64_t own_id)>& begin);

  generate::Writer& writer_;
  generate::TokenWriter* tokens_;
  std::optional<std::int64_t> context_length_;
  // By the writer's id; of the loop's thread.
  std::map<std::uint64_t, std::shared_ptr<PendingRequest>> pending_;
  std::uint64_t next_id_ = 0;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> tasks_;
  std::optional<Error> error_;
  TimePoint broken_until_;  // with an error_; TimePoint::max(): for good
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
  struct Listener {
    std::function<void(std::string_view)> on_text;
    std::function<void()> on_restart;
    // A model that takes tokens has these: the tokens so far, their text, and the new part of the
    // text.
    std::vector<TokenId> tokens;
    std::optional<generate::TextStream> text;
    std::string piece;
  };
  Result<std::optional<ModelEvent>> take_event(Deadline deadline);
  Result<std::optional<SharedModel::Delivery>> take_delivery(Deadline deadline);
  ModelEvent read(Listener& listener, SharedModel::Delivery delivery) const;
  static void read_tokens(Listener& listener, const SharedModel::Delivery& delivery,
                          ModelEvent& event);
  SharedModel& model_;
  mutable std::optional<generate::ChatCodec> codec_;  // of a model that takes tokens
  std::shared_ptr<SharedModel::Mailbox> mailbox_;
  std::map<std::uint64_t, Listener> listeners_;  // of the requests in flight
};

}  // namespace tritonsmith::serve::openai
