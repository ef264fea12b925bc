#include "serve/assistant/assistant.h"

#include <algorithm>
#include <random>

#include "base/log.h"
#include "base/utc_time.h"
#include "serve/assistant/module_title.h"
#include "serve/openai/model_names.h"

namespace tritonsmith::serve::assistant {
namespace {

constexpr int kListed = 200;

std::string fresh_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

void count(const search::Attempt& attempt, SearchRecord& record) {
  const search::CountsAs counted = search::counts_as(attempt);
  if (counted == search::CountsAs::without_kernel) ++record.without_kernel;
  if (counted != search::CountsAs::kernel) return;
  ++record.kernels;
  record.accepted += attempt.verdict.accepted ? 1 : 0;
}

// A search's events in the store.
class StoreLog : public search::SearchLog {
 public:
  StoreLog(SearchStore& store, std::string id) : store_(store), id_(std::move(id)) {}
  Status append(const Json& event) override { return store_.add_event(id_, event); }

 private:
  SearchStore& store_;
  std::string id_;
};

}  // namespace

Result<std::unique_ptr<Assistant>> Assistant::open(const std::filesystem::path& store_file,
                                                   AssistantConfig config, AssistantParts parts) {
  TRY_ASSIGN(auto store, SearchStore::open(store_file));
  std::unique_ptr<Assistant> assistant(new Assistant(std::move(store), config, std::move(parts)));
  TRY(assistant->go_on());
  for (int i = 0; i < config.searches; ++i)
    assistant->threads_.emplace_back(
        [self = assistant.get()](const std::stop_token& stop) { self->work(stop); });
  return assistant;
}

// Returns nullptr if this server does not have the model.
const ModelUse* Assistant::model_of(const SearchOrder& order) const {
  for (const ModelUse& each : parts_.models)
    if (order.model.empty() || each.name == order.model) return &each;
  return nullptr;
}

bool Assistant::can_do(const SearchOrder& order) const {
  return order.kind == SearchKind::judge || model_of(order) != nullptr;
}

Status Assistant::go_on() {
  TRY_ASSIGN(auto records, store_->unfinished());
  for (SearchRecord& record : records) {
    auto search = std::make_shared<Search>();
    search->earlier_seconds = record.seconds;
    search->record = std::move(record);
    if (search->record.life == SearchLife::with_client) {
      search->record.state = SearchState::stopped;
      search->record.error = "The server ended before the search did.";
      TRY(store_->put(search->record));
      continue;
    }
    search->record.state = SearchState::queued;
    live_.emplace(search->record.id, search);
    queue_.push_back(search);
  }
  return ok();
}

Assistant::~Assistant() {
  for (std::jthread& thread : threads_) thread.request_stop();
  changed_.notify_all();
  threads_.clear();  // joins
  for (const auto& search : queue_) finish(*search, ok(), true);
}

Result<std::string> Assistant::start(SearchOrder order, const std::string& owner, SearchLife life) {
  if (!can_do(order) && parts_.models.empty())
    return fail("this server has no model to write with; start it with --model");
  if (!can_do(order))
    return fail("this server has no model '{}'; choose one of: {}", order.model,
                openai::quoted_names(parts_.models));
  TRY(check_order(order));
  order.model = order.kind == SearchKind::write ? model_of(order)->name : "";
  if (order.title.empty()) order.title = order.name.empty() ? title_of(order.source) : order.name;
  auto search = std::make_shared<Search>();
  search->record = {.id = fresh_id(),
                    .owner = owner,
                    .created_ms = unix_milliseconds(),
                    .life = life,
                    .order = std::move(order)};
  const std::lock_guard lock(mutex_);
  if (std::ssize(queue_) >= config_.waiting)
    return fail_by_fault("{} searches wait already; try again later", queue_.size());
  TRY(store_->put(search->record));
  live_.emplace(search->record.id, search);
  queue_.push_back(search);
  changed_.notify_all();
  return search->record.id;
}

Status Assistant::stop(const std::string& id, const std::string& owner) {
  std::shared_ptr<Search> waiting;
  {
    const std::lock_guard lock(mutex_);
    const auto at = live_.find(id);
    if (at == live_.end()) return ok();
    if (at->second->record.owner != owner)
      return fail("this search was ordered with another key, and only that key may stop it");
    at->second->is_stopped = true;
    if (std::erase(queue_, at->second) > 0) waiting = at->second;
    changed_.notify_all();
  }
  if (waiting) finish(*waiting, ok(), false);
  return ok();
}

// The oldest search of an owner with the fewest running ones, so that nobody waits for all that another
// one has ordered. A search may run for hours, so one owner never holds all threads. A server without
// keys knows no owners. The caller has the lock.
std::deque<std::shared_ptr<Assistant::Search>>::iterator Assistant::next() {
  std::map<std::string, int> running;
  for (const auto& [id, search] : live_) running[search->record.owner] += search->is_running;
  const int most = std::max(1, config_.searches / 4);
  auto chosen = queue_.end();
  for (auto at = queue_.begin(); at != queue_.end(); ++at) {
    const SearchRecord& record = (*at)->record;
    const int now = running[record.owner];
    if (!can_do(record.order) || (!record.owner.empty() && now >= most)) continue;
    if (chosen == queue_.end() || now < running[(*chosen)->record.owner]) chosen = at;
  }
  return chosen;
}

void Assistant::work(const std::stop_token& stop) {
  for (;;) {
    std::shared_ptr<Search> search;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return next() != queue_.end(); });
      if (stop.stop_requested()) return;
      const auto at = next();
      search = *at;
      search->is_running = true;
      queue_.erase(at);
    }
    run(search, stop);
  }
}

void Assistant::run(const std::shared_ptr<Search>& search, const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    search->record.state = SearchState::running;
    search->began = system_clock().now();
    change(*search);
  }
  Status status = store_->put(search->record);
  if (status) status = search_on(*search, stop);
  finish(*search, status, stop.stop_requested());
}

Status Assistant::search_on(Search& search, const std::stop_token& stop) {
  const std::string& id = search.record.id;
  StoreLog log(*store_, id);
  EarlierRun earlier;
  TRY_ASSIGN(earlier.events, store_->events(id));
  TRY_ASSIGN(const Json attempts, store_->attempts(id, 0));
  for (const Json& attempt : attempts) earlier.reported.insert(attempt.value("ask", 0));
  const RunEvents reports = {
      .on_attempt = [&](const search::Attempt& attempt,
                        const std::vector<Verdict>& calls) { return take(search, attempt, calls); },
      .on_phase =
          [&](episode::TurnPhase phase) {
            const std::lock_guard lock(mutex_);
            ++(phase == episode::TurnPhase::writing ? search.written : search.judged);
            change(search);
          },
      .on_awaited =
          [&](std::size_t answers, std::size_t verdicts) {
            const std::lock_guard lock(mutex_);
            if (search.writing == answers && search.judging == verdicts) return;
            search.writing = answers;
            search.judging = verdicts;
            change(search);
          },
      .is_stopped =
          [&] {
            const std::lock_guard lock(mutex_);
            return search.is_stopped || stop.stop_requested();
          }};
  const SearchOrder& order = search.record.order;
  if (order.kind == SearchKind::judge)
    return earlier.reported.empty() ? run_judgement(order, parts_.judge, reports) : ok();
  TRY_ASSIGN(std::string why,
             run_search(order, *model_of(order), parts_.judge, log, earlier, reports));
  const std::lock_guard lock(mutex_);
  search.record.why = std::move(why);
  return ok();
}

Status Assistant::take(Search& search, const search::Attempt& attempt,
                       const std::vector<Verdict>& calls) {
  const Verdict& verdict = attempt.verdict;
  SearchRecord& record = search.record;
  const int number = record.attempts;
  const search::Ask& ask = attempt.ask;
  const bool has_turns = ask.chain != search::kNone;
  const double seconds = search.earlier_seconds + milliseconds_since(search.began) / 1e3;
  Json json = {{"number", number},
               {"ask", ask.number},
               {"kind", name_of(ask.kind)},
               {"conversation", has_turns ? ask.chain : ask.number},
               {"turn", has_turns ? ask.round : 0},
               {"parent", ask.parent == search::kNone ? Json() : Json(ask.parent)},
               {"idea", ask.idea},
               {"same_as", attempt.same_as == search::kNone ? Json() : Json(attempt.same_as)},
               {"kernel", attempt.kernel},
               {"text", attempt.text},
               {"tokens", attempt.usage.completion_tokens},
               {"prompt_tokens", attempt.usage.prompt_tokens},
               {"seconds", seconds},
               {"words", parts_.words(verdict)},
               {"verdict", to_json(verdict)}};
  for (const Verdict& call : calls) json["calls"].push_back(to_json(call));
  TRY(store_->add_attempt(record.id, number, json));
  const std::lock_guard lock(mutex_);
  record.seconds = seconds;
  ++record.attempts;
  count(attempt, record);
  // Without timings the first accepted kernel stays the best.
  if (verdict.accepted && (record.best < 0 || verdict.speedup > record.best_speedup)) {
    record.best = number;
    record.best_speedup = verdict.speedup;
  }
  change(search);
  return store_->put(record);
}

// A search that the server's end interrupts stays queued in the store, and the next server goes on
// with it.
void Assistant::finish(Search& search, const Status& status, bool server_ends) {
  const std::lock_guard lock(mutex_);
  SearchRecord& record = search.record;
  record.state = !status             ? SearchState::failed
                 : search.is_stopped ? SearchState::stopped
                 : server_ends       ? SearchState::queued
                                     : SearchState::done;
  if (!status) record.error = status.error().message;
  if (record.state == SearchState::stopped) record.error = "It was stopped.";
  if (search.began != TimePoint{})
    record.seconds = search.earlier_seconds + milliseconds_since(search.began) / 1e3;
  if (const Status stored = store_->put(record); !stored) LOG("serve: {}", stored.error().message);
  live_.erase(record.id);
  change(search);
}

// The caller has the lock.
void Assistant::change(Search& search) {
  ++search.version;
  changed_.notify_all();
}

Result<Json> Assistant::list(const std::string& owner) const {
  TRY_ASSIGN(const auto records, store_->list(owner, kListed));
  Json list = Json::array();
  for (const SearchRecord& record : records) list.push_back(to_json(record, Detail::brief));
  return list;
}

Result<std::optional<Json>> Assistant::show(const std::string& id, int from) const {
  TRY_ASSIGN(const auto record, store_->find(id));
  if (!record) return std::optional<Json>();
  TRY_ASSIGN(Json attempts, store_->attempts(id, from));
  return std::optional<Json>(
      Json{{"search", to_json(*record, Detail::whole)}, {"attempts", std::move(attempts)}});
}

Result<std::optional<Json>> Assistant::wait(const std::string& id, int from, std::uint64_t version,
                                            Deadline deadline) const {
  Json live;
  std::uint64_t seen = version;
  {
    std::unique_lock lock(mutex_);
    const auto at = live_.find(id);
    if (at != live_.end()) {
      const std::shared_ptr<Search> search = at->second;
      changed_.wait_until(lock, deadline.at(), [&] { return search->version != version; });
      seen = search->version;
      live = {{"written", search->written},
              {"judged", search->judged},
              {"writing", search->writing},
              {"judging", search->judging}};
    }
  }
  TRY_ASSIGN(auto shown, show(id, from));
  if (!shown) return std::optional<Json>();
  (*shown)["version"] = seen;
  (*shown)["live"] = std::move(live);
  return shown;
}

SearchCounts Assistant::counts() const {
  const std::lock_guard lock(mutex_);
  const int waiting = static_cast<int>(queue_.size());
  return {.running = static_cast<int>(live_.size()) - waiting, .waiting = waiting};
}

}  // namespace tritonsmith::serve::assistant
