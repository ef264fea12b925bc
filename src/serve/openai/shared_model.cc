#include "serve/openai/shared_model.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"

namespace tritonsmith::serve::openai {
namespace {

// How long the loop leaves the model to itself. A request interrupts our own engine, and waits for
// another model.
constexpr Milliseconds kLookAtEngine{20}, kLookAtWriter{5};
// A client gets the pieces of so long together. Each delivery costs a change of threads and a
// message, and a fast model has hundreds of pieces a second for each client. With many clients, the
// pieces are longer, so that all clients together get 125 a second at most for each processor.
constexpr Milliseconds kBetweenPieces{50}, kLongestBetweenPieces{250}, kProcessorsShare{8};
// A model that has failed refuses requests for so long, so that no client waits for it in vain.
constexpr Milliseconds kRest{3000};

}  // namespace

Milliseconds between_pieces(std::int64_t requests, std::int64_t processors) {
  return std::clamp(kProcessorsShare * requests / std::max<std::int64_t>(processors, 1),
                    kBetweenPieces, kLongestBetweenPieces);
}

// The loop hands this to a client: new text or new tokens of a request, the end of the request, or
// both.
struct SharedModel::Delivery {
  std::uint64_t id = 0;  // the client's
  std::string piece;
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;  // of the tokens, or empty
  bool is_restart = false;
  std::optional<generate::Written> written;
  std::optional<generate::Generated> generated;
};

// The deliveries that a client has not taken yet.
struct SharedModel::Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Delivery> deliveries;
  std::optional<Error> broken;

  void put(Delivery delivery) {
    {
      const std::lock_guard lock(mutex);
      deliveries.push_back(std::move(delivery));
    }
    changed.notify_one();
  }
  void put(const Error& error) {
    {
      const std::lock_guard lock(mutex);
      broken = error;
    }
    changed.notify_one();
  }
};

// A request in flight, with what its client will get next. Only the loop's thread uses it.
struct SharedModel::PendingRequest {
  std::shared_ptr<Mailbox> mailbox;
  std::uint64_t id = 0;  // the client's
  std::string piece = {};
  std::vector<TokenId> tokens = {};
  std::vector<float> logprobs = {};
  std::size_t taken = 0;  // tokens so far
  TimePoint due = {};     // the client gets nothing before it

  void take(std::span<const TokenId> all) {
    tokens.insert(tokens.end(), all.begin() + static_cast<std::ptrdiff_t>(taken), all.end());
    taken = all.size();
  }
  void hand_over(TimePoint now, Milliseconds between) {
    if (now < due || (piece.empty() && tokens.empty())) return;
    due = now + between;
    mailbox->put({.id = id,
                  .piece = std::exchange(piece, {}),
                  .tokens = std::exchange(tokens, {}),
                  .logprobs = std::exchange(logprobs, {})});
  }
  void restart() {
    piece.clear();
    mailbox->put({.id = id, .is_restart = true});
  }
};

ModelLoad& ModelLoad::operator+=(const ModelLoad& other) {
  running += other.running;
  finished += other.finished;
  cancelled += other.cancelled;
  prompt_tokens += other.prompt_tokens;
  completion_tokens += other.completion_tokens;
  return *this;
}

SharedModel::SharedModel(generate::Writer& writer, generate::TokenWriter* tokens)
    : writer_(writer),
      tokens_(tokens),
      context_length_(writer.context_length()),
      thread_([this](const std::stop_token& stop) { loop(stop); }) {}

SharedModel::~SharedModel() {
  thread_.request_stop();
  changed_.notify_all();
}

std::unique_ptr<ModelClient> SharedModel::connect() { return std::make_unique<ModelClient>(*this); }

ModelLoad SharedModel::load() const {
  const std::lock_guard lock(mutex_);
  return load_;
}

std::optional<Error> SharedModel::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void SharedModel::run(std::function<void()> function) {
  std::mutex done_mutex;
  std::condition_variable done_changed;
  bool is_done = false;
  {
    const std::lock_guard lock(mutex_);
    tasks_.emplace_back([&] {
      function();
      const std::lock_guard done_lock(done_mutex);
      is_done = true;
      done_changed.notify_all();
    });
    changed_.notify_all();
  }
  if (tokens_ != nullptr) tokens_->engine().interrupt();
  std::unique_lock lock(done_mutex);
  done_changed.wait(lock, [&] { return is_done; });
}

void SharedModel::loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    take_tasks(stop);
    if (pending_.empty()) continue;
    if (const Status status = work(); !status) break_down(status.error());
    hand_over();
  }
}

// Waits for tasks while nothing is in flight.
void SharedModel::take_tasks(const std::stop_token& stop) {
  std::deque<std::function<void()>> tasks;
  {
    std::unique_lock lock(mutex_);
    if (pending_.empty()) changed_.wait(lock, stop, [this] { return !tasks_.empty(); });
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) task();
  const std::lock_guard lock(mutex_);
  load_.running = pending_.size();
}

// Lets the model work for a short time, or until a request is finished.
Status SharedModel::work() {
  if (tokens_ != nullptr) {
    TRY_ASSIGN(auto generated, tokens_->engine().next_by(Deadline::after(kLookAtEngine)));
    if (!generated) return ok();
    const Completion& completion = generated->completion;
    const Usage usage{.prompt_tokens = std::ssize(completion.prompt),
                      .completion_tokens = std::ssize(completion.tokens)};
    const auto id = generated->id;
    end(id, usage, {.generated = std::move(generated)});
    return ok();
  }
  TRY_ASSIGN(auto written, writer_.next_by(Deadline::after(kLookAtWriter)));
  if (!written) return ok();
  const Usage usage = written->completion.usage;
  const auto id = written->id;
  end(id, usage, {.written = std::move(written)});
  return ok();
}

void SharedModel::end(std::uint64_t own_id, const Usage& usage, Delivery delivery) {
  const auto at = pending_.find(own_id);
  if (at == pending_.end()) return;
  const std::shared_ptr<PendingRequest> pending = std::move(at->second);
  pending_.erase(at);
  {
    const std::lock_guard lock(mutex_);
    error_.reset();
    load_.running = pending_.size();
    ++load_.finished;
    load_.prompt_tokens += static_cast<std::uint64_t>(usage.prompt_tokens);
    load_.completion_tokens += static_cast<std::uint64_t>(usage.completion_tokens);
  }
  delivery.id = pending->id;
  delivery.piece = std::move(pending->piece);
  pending->mailbox->put(std::move(delivery));
}

void SharedModel::hand_over() {
  const TimePoint now = system_clock().now();
  const Milliseconds between =
      between_pieces(std::ssize(pending_), std::thread::hardware_concurrency());
  for (const auto& [id, pending] : pending_) pending->hand_over(now, between);
}

void SharedModel::break_down(const Error& error) {
  const bool recovers = writer_.recover();
  LOG("the model failed: {}{}", error.message, recovers ? "; a later request tries again" : "");
  {
    const std::lock_guard lock(mutex_);
    error_ = error;
    broken_until_ = recovers ? system_clock().now() + kRest : TimePoint::max();
  }
  for (const auto& [id, pending] : pending_) pending->mailbox->put(error);
  pending_.clear();
}

Status SharedModel::submit(const std::shared_ptr<PendingRequest>& pending,
                           const std::function<Status(std::uint64_t own_id)>& begin) {
  Status status;
  run([&] {
    {
      const std::lock_guard lock(mutex_);
      if (error_ && system_clock().now() < broken_until_) {
        status = tl::unexpected(*error_);
        return;
      }
    }
    const std::uint64_t own_id = next_id_++;
    pending_.emplace(own_id, pending);
    status = begin(own_id);
    if (!status) pending_.erase(own_id);
  });
  return status;
}

// Without an id it cancels all of the mailbox's requests.
void SharedModel::cancel(const std::shared_ptr<Mailbox>& mailbox, std::optional<std::uint64_t> id) {
  std::erase_if(pending_, [&](const auto& entry) {
    const PendingRequest& pending = *entry.second;
    if (pending.mailbox != mailbox || pending.id != id.value_or(pending.id)) return false;
    if (tokens_ != nullptr)
      tokens_->engine().cancel(entry.first);
    else
      writer_.cancel(entry.first);
    const std::lock_guard lock(mutex_);
    ++load_.cancelled;
    return true;
  });
}

ModelClient::ModelClient(SharedModel& model)
    : model_(model), mailbox_(std::make_shared<SharedModel::Mailbox>()) {
  if (model.tokens_ != nullptr) codec_ = model.tokens_->codec();
}

ModelClient::~ModelClient() {
  if (!listeners_.empty()) model_.run([&] { model_.cancel(mailbox_, std::nullopt); });
}

Status ModelClient::submit(generate::WriteRequest request) {
  if (codec_)
    return submit(generate::TokenRequest{.id = request.id,
                                         .prompt = codec_->render(request.messages),
                                         .sampling = std::move(request.sampling),
                                         .seed = request.seed,
                                         .on_text = std::move(request.on_text)});
  const auto pending = std::make_shared<SharedModel::PendingRequest>(
      SharedModel::PendingRequest{.mailbox = mailbox_, .id = request.id});
  Listener listener{.on_text = std::exchange(request.on_text, nullptr),
                    .on_restart = std::exchange(request.on_restart, nullptr)};
  if (listener.on_text)
    request.on_text = [pending](std::string_view piece) { pending->piece += piece; };
  if (listener.on_restart) request.on_restart = [pending] { pending->restart(); };
  TRY(model_.submit(pending, [&](std::uint64_t own_id) {
    request.id = own_id;
    return model_.writer_.submit(std::move(request));
  }));
  listeners_.emplace(pending->id, std::move(listener));
  return ok();
}

// The engine's thread looks for stop strings, because it must know where a completion ends.
Status ModelClient::submit(generate::TokenRequest request) {
  CHECK(codec_.has_value(), "the model takes no tokens");
  const auto pending = std::make_shared<SharedModel::PendingRequest>(
      SharedModel::PendingRequest{.mailbox = mailbox_, .id = request.id});
  auto generation = generate::generation_of(*codec_, request);
  std::shared_ptr<generate::TextStream> stops;
  if (const auto& strings = generation.sampling.stop; !strings.empty())
    stops = std::make_shared<generate::TextStream>(codec_->tokenizer(), strings, nullptr);
  const bool has_listener = request.on_text != nullptr;
  if (stops || has_listener)
    generation.is_complete = [=](std::span<const TokenId> tokens) {
      if (has_listener) pending->take(tokens);
      return stops && stops->take(tokens);
    };
  if (has_listener)
    generation.on_logprob = [=](float logprob) { pending->logprobs.push_back(logprob); };
  TRY(model_.submit(pending, [&](std::uint64_t own_id) {
    generation.id = own_id;
    return model_.tokens_->engine().submit(std::move(generation));
  }));
  Listener& listener = listeners_[pending->id];
  listener.on_text = std::move(request.on_text);
  if (has_listener)
    listener.text.emplace(codec_->tokenizer(), std::vector<std::string>(),
                          [&listener](std::string_view piece) { listener.piece += piece; });
  return ok();
}

Result<std::optional<ModelEvent>> ModelClient::next_event(Deadline deadline) {
  TRY_ASSIGN(auto event, take_event(deadline));
  if (event && event->written) listeners_.erase(event->id);
  return event;
}

Result<std::optional<ModelEvent>> ModelClient::take_event(Deadline deadline) {
  while (!listeners_.empty()) {
    TRY_ASSIGN(auto delivery, take_delivery(deadline));
    if (!delivery) return std::optional<ModelEvent>();
    const auto listener = listeners_.find(delivery->id);
    if (listener == listeners_.end()) continue;  // cancelled
    ModelEvent event = read(listener->second, *std::move(delivery));
    // New tokens may end in the middle of a character. Without their log-probabilities there is
    // then nothing to tell.
    if (!event.piece.empty() || !event.tokens.empty() || event.is_restart || event.written)
      return std::optional(std::move(event));
  }
  return std::optional<ModelEvent>();
}

Result<std::optional<SharedModel::Delivery>> ModelClient::take_delivery(Deadline deadline) {
  using Taken = std::optional<SharedModel::Delivery>;
  SharedModel::Mailbox& mailbox = *mailbox_;
  std::unique_lock lock(mailbox.mutex);
  const auto has_something = [&] { return !mailbox.deliveries.empty() || mailbox.broken; };
  if (deadline.at() == TimePoint::max())
    mailbox.changed.wait(lock, has_something);
  else if (!mailbox.changed.wait_until(lock, deadline.at(), has_something))
    return Taken();
  if (mailbox.deliveries.empty()) return tl::unexpected(*mailbox.broken);
  Taken taken = std::move(mailbox.deliveries.front());
  mailbox.deliveries.pop_front();
  return taken;
}

void ModelClient::read_tokens(Listener& listener, const SharedModel::Delivery& delivery,
                              ModelEvent& event) {
  const bool has_logprobs = delivery.logprobs.size() == delivery.tokens.size();
  for (std::size_t i = 0; i < delivery.tokens.size(); ++i) {
    listener.tokens.push_back(delivery.tokens[i]);
    const std::size_t begin = listener.piece.size();
    if (listener.text) listener.text->take(listener.tokens);
    if (has_logprobs)
      event.tokens.push_back(
          {.text = listener.piece.substr(begin), .logprob = delivery.logprobs[i]});
  }
}

ModelEvent ModelClient::read(Listener& listener, SharedModel::Delivery delivery) const {
  ModelEvent event{.id = delivery.id,
                   .piece = std::move(delivery.piece),
                   .is_restart = delivery.is_restart,
                   .written = std::move(delivery.written)};
  read_tokens(listener, delivery, event);
  if (delivery.generated)
    event.written = generate::written_from(*codec_, *std::move(delivery.generated));
  if (delivery.generated && listener.text) listener.text->finish(event.written->completion.text);
  if (event.written) event.written->id = delivery.id;
  event.piece += std::exchange(listener.piece, {});
  return event;
}

Result<std::optional<generate::Written>> ModelClient::next_by(Deadline deadline) {
  for (;;) {
    TRY_ASSIGN(auto event, take_event(deadline));
    if (!event) return std::optional<generate::Written>();
    const Listener& listener = listeners_.at(event->id);
    if (event->is_restart && listener.on_restart) listener.on_restart();
    if (!event->piece.empty() && listener.on_text) listener.on_text(event->piece);
    if (!event->written) continue;
    listeners_.erase(event->id);
    return std::move(event->written);
  }
}

void ModelClient::cancel(std::uint64_t id) {
  if (listeners_.erase(id) == 0) return;
  model_.run([&] { model_.cancel(mailbox_, id); });
}

bool ModelClient::has_room(std::span<const text::Message> messages,
                           const generate::SamplingParams& sampling) const {
  if (codec_) {
    const auto limit = context_length();
    return !limit || std::ssize(codec_->render(messages)) + sampling.max_new_tokens <= *limit;
  }
  bool has = true;
  model_.run([&] { has = model_.writer_.has_room(messages, sampling); });
  return has;
}

}  // namespace tritonsmith::serve::openai
