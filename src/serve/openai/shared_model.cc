#include "serve/openai/shared_model.h"

#include "base/check.h"

namespace tritonsmith::serve::openai {
namespace {

// New requests and cancellations wait for one decode step of our own engine, and for another model
// at most so long.
constexpr Milliseconds kLook{5};
// A client reads pieces of text together if they come sooner after one another. Each reading costs a
// change of threads and a message, and a fast model has hundreds of pieces a second for each client.
constexpr Milliseconds kBetweenPieces{25};

}  // namespace

// The events that the loop has for one client.
struct SharedModel::Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<ModelEvent> events;
  std::optional<Error> broken;
  bool has_end = false;   // of some request, which the client reads at once
  TimePoint pieces_at{};  // before it the client reads no pieces

  void put(ModelEvent event) {
    const std::lock_guard lock(mutex);
    has_end = has_end || event.written;
    const bool joins = !events.empty() && !event.written && !event.is_restart &&
                       !events.back().written && events.back().id == event.id;
    if (joins)
      events.back().piece += event.piece;
    else
      events.push_back(std::move(event));
    if (has_end || system_clock().now() >= pieces_at) changed.notify_all();
  }
  // The caller of the functions below has the lock. wait() says whether there is an event or a break
  // to read.
  bool wait(std::unique_lock<std::mutex>& lock, Deadline deadline) {
    for (;;) {
      if (has_end || broken) return true;
      const TimePoint now = system_clock().now();
      if (!events.empty() && now >= pieces_at) return true;
      if (now >= deadline.at()) return false;
      // put() tells nobody of pieces that come before pieces_at.
      if (now < pieces_at)
        changed.wait_until(lock, std::min(pieces_at, deadline.at()));
      else if (deadline.at() == TimePoint::max())
        changed.wait(lock);
      else
        changed.wait_until(lock, deadline.at());
    }
  }
  ModelEvent take() {
    ModelEvent event = std::move(events.front());
    events.pop_front();
    if (events.empty()) {
      has_end = false;
      pieces_at = system_clock().now() + kBetweenPieces;
    }
    return event;
  }
};

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
  return broken_;
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
  std::unique_lock lock(done_mutex);
  done_changed.wait(lock, [&] { return is_done; });
}

void SharedModel::loop(const std::stop_token& stop) {
  const Milliseconds look = takes_tokens() ? Milliseconds(0) : kLook;
  while (!stop.stop_requested()) {
    take_tasks(stop);
    if (flights_.empty()) continue;
    auto written = writer_.next_by(Deadline::after(look));
    if (!written)
      break_down(written.error());
    else if (*written)
      deliver(**std::move(written));
  }
}

// Waits for tasks while nothing is in flight.
void SharedModel::take_tasks(const std::stop_token& stop) {
  std::deque<std::function<void()>> tasks;
  {
    std::unique_lock lock(mutex_);
    if (flights_.empty()) changed_.wait(lock, stop, [this] { return !tasks_.empty(); });
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) task();
  const std::lock_guard lock(mutex_);
  load_.running = flights_.size();
}

void SharedModel::deliver(generate::Written written) {
  const auto at = flights_.find(written.id);
  if (at == flights_.end()) return;
  const Flight flight = std::move(at->second);
  flights_.erase(at);
  {
    const std::lock_guard lock(mutex_);
    load_.running = flights_.size();
    ++load_.finished;
    load_.prompt_tokens += static_cast<std::uint64_t>(written.completion.usage.prompt_tokens);
    load_.completion_tokens +=
        static_cast<std::uint64_t>(written.completion.usage.completion_tokens);
  }
  written.id = flight.id;
  flight.mailbox->put({.id = flight.id, .written = std::move(written)});
}

void SharedModel::break_down(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (!broken_) broken_ = error;
  }
  for (const auto& [id, flight] : flights_) {
    const std::lock_guard lock(flight.mailbox->mutex);
    flight.mailbox->broken = error;
    flight.mailbox->changed.notify_all();
  }
  flights_.clear();
}

std::uint64_t SharedModel::begin(const std::shared_ptr<Mailbox>& mailbox, std::uint64_t id) {
  const std::uint64_t own = next_id_++;
  flights_.emplace(own, Flight{.mailbox = mailbox, .id = id});
  return own;
}

// Without an id it cancels all of the mailbox's requests.
void SharedModel::cancel(const std::shared_ptr<Mailbox>& mailbox, std::optional<std::uint64_t> id) {
  std::erase_if(flights_, [&](const auto& entry) {
    const Flight& flight = entry.second;
    if (flight.mailbox != mailbox || flight.id != id.value_or(flight.id)) return false;
    writer_.cancel(entry.first);
    const std::lock_guard lock(mutex_);
    ++load_.cancelled;
    return true;
  });
}

ModelClient::ModelClient(SharedModel& model)
    : model_(model), mailbox_(std::make_shared<SharedModel::Mailbox>()) {}

ModelClient::~ModelClient() {
  if (!listeners_.empty()) model_.run([&] { model_.cancel(mailbox_, std::nullopt); });
}

template <typename Request>
Status ModelClient::submit_to(generate::Writer& writer, Request request) {
  const std::uint64_t id = request.id;
  Listener listener{.on_text = std::move(request.on_text)};
  if constexpr (requires { request.on_restart; })
    listener.on_restart = std::exchange(request.on_restart, nullptr);
  const auto mailbox = mailbox_;
  request.on_text = nullptr;
  if (listener.on_text)
    request.on_text = [mailbox, id](std::string_view piece) {
      mailbox->put({.id = id, .piece = std::string(piece)});
    };
  if constexpr (requires { request.on_restart; })
    if (listener.on_restart)
      request.on_restart = [mailbox, id] { mailbox->put({.id = id, .is_restart = true}); };
  Status status;
  model_.run([&] {
    if (const auto broken = model_.error()) {
      status = tl::unexpected(*broken);
      return;
    }
    request.id = model_.begin(mailbox, id);
    const std::uint64_t own = request.id;
    if constexpr (std::is_same_v<Request, generate::TokenRequest>)
      status = static_cast<generate::TokenWriter&>(writer).submit(std::move(request));
    else
      status = writer.submit(std::move(request));
    if (!status) model_.flights_.erase(own);
  });
  if (status) listeners_.emplace(id, std::move(listener));
  return status;
}

Status ModelClient::submit(generate::WriteRequest request) {
  return submit_to(model_.writer_, std::move(request));
}

Status ModelClient::submit(generate::TokenRequest request) {
  CHECK(model_.tokens_ != nullptr, "the model takes no tokens");
  return submit_to(*model_.tokens_, std::move(request));
}

Result<std::optional<ModelEvent>> ModelClient::next_event(Deadline deadline) {
  TRY_ASSIGN(auto event, take_event(deadline));
  if (event && event->written) listeners_.erase(event->id);
  return event;
}

Result<std::optional<ModelEvent>> ModelClient::take_event(Deadline deadline) {
  std::unique_lock lock(mailbox_->mutex);
  for (;;) {
    if (listeners_.empty()) return std::optional<ModelEvent>();
    if (!mailbox_->wait(lock, deadline)) return std::optional<ModelEvent>();
    if (mailbox_->events.empty()) return tl::unexpected(*mailbox_->broken);
    ModelEvent event = mailbox_->take();
    if (!listeners_.contains(event.id)) continue;  // cancelled
    return std::optional(std::move(event));
  }
}

Result<std::optional<generate::Written>> ModelClient::next_by(Deadline deadline) {
  for (;;) {
    TRY_ASSIGN(auto event, take_event(deadline));
    if (!event) return std::optional<generate::Written>();
    const Listener& listener = listeners_.at(event->id);
    if (event->is_restart && listener.on_restart) listener.on_restart();
    if (!event->piece.empty()) listener.on_text(event->piece);
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
  bool has = true;
  model_.run([&] { has = model_.writer_.has_room(messages, sampling); });
  return has;
}

}  // namespace tritonsmith::serve::openai
