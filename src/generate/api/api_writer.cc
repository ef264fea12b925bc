#include "generate/api/api_writer.h"

#include <random>

#include "base/check.h"
#include "base/log.h"

namespace tritonsmith::generate {
namespace {

double random_share() {
  thread_local std::minstd_rand engine(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

ApiReply empty_reply(FinishReason finish) { return {.finish = finish}; }

bool refuses_key(const ApiFailure& failure) {
  return failure.status == 401 || failure.status == 403;
}

tl::unexpected<Error> refused_key(const ApiAddress& address, const ApiFailure& failure) {
  return fail("{} refuses the key ({}); set ${} or key_file", address.origin, failure.message,
              kApiKeyVariable);
}

}  // namespace

Result<std::unique_ptr<ApiWriter>> ApiWriter::open(const ApiConfig& config,
                                                   const std::string& model,
                                                   const std::filesystem::path& store_file) {
  TRY_ASSIGN(ApiAddress address, parse_api_url(config.base_url));
  TRY_ASSIGN(std::string key, read_api_key(config.key_file));
  if (!key.empty() && address.is_open_to_listeners())
    LOG("the key travels to {} without encryption; prefer https://", address.origin);
  std::unique_ptr<ApiWriter> writer(
      new ApiWriter(config, model, std::move(address), std::move(key)));
  TRY_ASSIGN(writer->store_, RequestStore::open(store_file));
  TRY(writer->check_models());
  return writer;
}

ApiWriter::ApiWriter(ApiConfig config, std::string model, ApiAddress address, std::string key)
    : config_(std::move(config)),
      model_(std::move(model)),
      address_(std::move(address)),
      key_(std::move(key)),
      last_answer_(system_clock().now()) {}

ApiWriter::~ApiWriter() {
  for (std::jthread& thread : threads_) thread.request_stop();
  {
    std::unique_lock lock(mutex_);
    changed_.notify_all();
    // A stop that comes just before a request begins does nothing, so it is repeated.
    while (!asking_.empty()) {
      for (const auto& [job, client] : asking_) client->stop();
      changed_.wait_for(lock, Milliseconds(20));
    }
  }
  threads_.clear();  // joins
}

// A server without a list of models is taken at its word later.
Status ApiWriter::check_models() {
  ApiClient client(config_, address_, key_);
  const auto models = client.models();
  if (!models) {
    const ApiFailure& failure = models.error();
    if (refuses_key(failure)) return refused_key(address_, failure);
    if (failure.status == 0) return fail_by_fault("{}", failure.message);
    return ok();
  }
  std::vector<std::string> names;
  for (const ApiModel& each : *models) {
    if (each.name == model_) {
      context_length_ = each.context_length;
      return ok();
    }
    names.push_back(each.name);
  }
  if (names.empty()) return ok();
  return fail("{} has no model '{}'; {}", address_.origin, model_, suggestion(model_, names));
}

Status ApiWriter::submit(WriteRequest request) {
  const std::lock_guard lock(mutex_);
  if (broken_) return tl::unexpected(*broken_);
  auto job = std::make_shared<Job>(Job{.request = std::move(request)});
  const bool is_new = jobs_.emplace(job->request.id, job).second;
  CHECK(is_new, "two requests in flight have the id {}", job->request.id);
  waiting_.push_back(std::move(job));
  if (idle_ < std::ssize(waiting_) && std::ssize(threads_) < config_.requests)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  changed_.notify_all();
  return ok();
}

Result<std::optional<Written>> ApiWriter::next_by(Deadline deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto is_ready = [this] { return !events_.empty() || broken_ || jobs_.empty(); };
    if (deadline.at() == TimePoint::max())
      changed_.wait(lock, is_ready);
    else
      changed_.wait_until(lock, deadline.at(), is_ready);
    if (events_.empty()) {
      if (broken_) return tl::unexpected(*broken_);
      return std::optional<Written>();
    }
    Event event = std::move(events_.front());
    events_.pop_front();
    const auto at = jobs_.find(event.id);
    if (at == jobs_.end()) continue;  // cancelled
    const std::shared_ptr<Job> job = at->second;
    if (event.written) jobs_.erase(at);
    lock.unlock();
    if (event.is_restart) job->request.on_restart();
    if (!event.piece.empty() && job->request.on_text) job->request.on_text(event.piece);
    lock.lock();
    if (event.written) return std::move(event.written);
  }
}

void ApiWriter::cancel(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto at = jobs_.find(id);
  if (at == jobs_.end()) return;
  at->second->is_cancelled = true;
  if (const auto asking = asking_.find(at->second.get()); asking != asking_.end())
    asking->second->stop();
  jobs_.erase(at);
  changed_.notify_all();
}

bool ApiWriter::recover() {
  const std::lock_guard lock(mutex_);
  if (broken_ && broken_->kind != ErrorKind::fault) return false;
  for (const auto& [id, job] : jobs_) job->is_cancelled = true;
  for (const auto& [job, client] : asking_) client->stop();
  jobs_.clear();
  waiting_.clear();
  events_.clear();
  broken_.reset();
  last_answer_ = system_clock().now();
  changed_.notify_all();
  return true;
}

void ApiWriter::work(const std::stop_token& stop) {
  ApiClient client(config_, address_, key_);
  while (const auto job = wait_for_job(stop)) answer(job, client, stop);
}

std::shared_ptr<ApiWriter::Job> ApiWriter::wait_for_job(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  ++idle_;
  changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
  --idle_;
  if (stop.stop_requested() || waiting_.empty()) return nullptr;
  const auto job = std::move(waiting_.front());
  waiting_.pop_front();
  return job;
}

void ApiWriter::answer(const std::shared_ptr<Job>& job, ApiClient& client,
                       const std::stop_token& stop) {
  if (is_unwanted(*job, stop)) return;
  const Json body = request_body(job->request, model_, config_);
  const std::string key = request_key(address_.origin + address_.path, body, job->request.seed);
  auto known = store_->find(key);
  if (!known) return break_down(*job, known.error());
  if (*known) return deliver(*job, **std::move(known));
  if (const Status affordable = check_cost(); !affordable)
    return break_down(*job, affordable.error());
  auto reply = ask(*job, body, client, stop);
  if (!reply) return break_down(*job, reply.error());
  if (!*reply) return;  // cancelled
  const Status stored = store_->put(key, body, **reply, cost_of((*reply)->usage, config_.prices));
  if (!stored) return break_down(*job, stored.error());
  deliver(*job, **std::move(reply));
}

Status ApiWriter::check_cost() const {
  if (config_.cost_limit <= 0) return ok();
  TRY_ASSIGN(const Spending spent, store_->spending());
  if (spent.cost < config_.cost_limit) return ok();
  return fail_by_fault(
      "the requests have cost {:.4f}, and cost_limit is {}; the answers are kept: "
      "raise it, and the same command goes on",
      spent.cost, config_.cost_limit);
}

Result<std::optional<ApiReply>> ApiWriter::ask(Job& job, const Json& body, ApiClient& client,
                                               const std::stop_token& stop) {
  for (int failed = 0, tries = 1;; ++tries) {
    auto reply = ask_once(job, body, client, stop);
    if (is_unwanted(job, stop)) return std::optional<ApiReply>();
    std::unique_lock lock(mutex_);
    if (job.is_cancelled) return std::optional<ApiReply>();
    if (reply) {
      last_answer_ = system_clock().now();
      return std::optional(*std::move(reply));
    }
    const ApiFailure& failure = reply.error();
    switch (after(failure)) {
      case AfterFailure::finish_cut:
        return std::optional(empty_reply(FinishReason::length));
      case AfterFailure::finish_filtered:
        return std::optional(empty_reply(FinishReason::filtered));
      case AfterFailure::give_up:
        if (refuses_key(failure)) return refused_key(address_, failure);
        return fail("{} does not serve '{}': {}", address_.origin, model_, failure.message);
      case AfterFailure::ask_again:
        break;
    }
    if (std::exchange(job.is_begun, false)) post({.id = job.request.id, .is_restart = true});
    if (!is_busy(failure)) ++failed;
    const double silent = milliseconds_since(last_answer_) / 1e3;
    if (failed >= config_.attempts || (is_busy(failure) && silent > config_.patience_seconds))
      return fail_by_fault(
          "{} failed {} times, at last with: {}; attempts and patience_seconds allow "
          "more",
          address_.origin, tries, failure.message);
    rest(lock, job, wait_seconds(failure, tries, config_, random_share()), stop);
  }
}

tl::expected<ApiReply, ApiFailure> ApiWriter::ask_once(Job& job, const Json& body,
                                                       ApiClient& client,
                                                       const std::stop_token& stop) {
  ApiClient::Listener listener{.is_cancelled = [&] { return is_unwanted(job, stop); }};
  if (job.request.on_text && job.request.on_restart)
    listener.on_text = [&](std::string_view piece) {
      const std::lock_guard lock(mutex_);
      if (job.is_cancelled) return;  // another request may have its id by now
      job.is_begun = true;
      post({.id = job.request.id, .piece = std::string(piece)});
    };
  {
    const std::lock_guard lock(mutex_);
    if (job.is_cancelled || stop.stop_requested()) return tl::unexpected(ApiFailure{});
    asking_[&job] = &client;
  }
  auto reply = client.ask(body, listener);
  const std::lock_guard lock(mutex_);
  asking_.erase(&job);
  changed_.notify_all();
  return reply;
}

// The caller has the lock.
void ApiWriter::rest(std::unique_lock<std::mutex>& lock, const Job& job, double seconds,
                     const std::stop_token& stop) {
  const Deadline end = Deadline::in_seconds(seconds);
  changed_.wait_until(lock, stop, end.at(), [&] { return job.is_cancelled; });
}

bool ApiWriter::is_unwanted(const Job& job, const std::stop_token& stop) const {
  const std::lock_guard lock(mutex_);
  return job.is_cancelled || stop.stop_requested();
}

// The caller has the lock.
void ApiWriter::post(Event event) {
  events_.push_back(std::move(event));
  changed_.notify_all();
}

void ApiWriter::deliver(const Job& job, ApiReply reply) {
  Written written{.id = job.request.id, .prompt = text::to_text(job.request.messages)};
  written.completion.text = std::move(reply.text);
  written.completion.reasoning = std::move(reply.reasoning);
  written.completion.tokens = std::move(reply.tokens);
  written.completion.logprobs = std::move(reply.logprobs);
  written.completion.finish = reply.finish;
  written.completion.usage = reply.usage;
  const std::lock_guard lock(mutex_);
  if (job.is_cancelled) return;
  if (!reply.model.empty() && reply.model != model_ && !std::exchange(told_other_model_, true))
    LOG("asked for '{}', {} answers as '{}'", model_, address_.origin, reply.model);
  // A text that was not shown piece by piece is shown whole.
  std::string piece = job.is_begun ? "" : written.completion.text;
  post({.id = job.request.id, .piece = std::move(piece), .written = std::move(written)});
}

void ApiWriter::break_down(const Job& job, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!broken_ && !job.is_cancelled) broken_ = error;
  changed_.notify_all();
}

}  // namespace tritonsmith::generate
