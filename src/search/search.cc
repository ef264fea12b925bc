#include "search/search.h"

#include "base/check.h"
#include "base/rng.h"
#include "gym/api/missing_kernel.h"
#include "search/ending.h"
#include "search/ptx_edits.h"
#include "search/strategies.h"
#include "search/tuning.h"
#include "text/extract.h"

namespace tritonsmith::search {

Status Search::resume(const std::vector<Json>& events, ResumedBudget budget) {
  CHECK(history_.asks().empty(), "the search has asked already");
  for (const Json& event : events) TRY_WITHIN("the record of the search", resume_one(event));
  for (const Ask& ask : history_.asks())
    if (history_.attempt(ask.number) == nullptr && !open_.contains(ask.number))
      unasked_.push_back(ask.number);
  finished_.clear();
  std::vector<int> open;
  for (const auto& [number, attempt] : open_) open.push_back(number);
  for (const int number : open) TRY(queue_kernel(number));
  return budget == ResumedBudget::other && !events.empty() ? extend() : ok();
}

Status Search::extend() {
  TRY(log_.append({{"event", "extended"}, {"seconds", seconds()}}));
  begin_extension();
  return ok();
}

void Search::begin_extension() {
  why_over_.clear();
  extended_from_ = static_cast<int>(history_.asks().size());
}

Status Search::resume_one(const Json& event) {
  JsonReader reader(event);
  const std::string what = reader.string("event");
  if (what == "asked") {
    TRY_ASSIGN(const Ask ask, ask_from_json(reader.object("ask")));
    TRY(check_asked(ask));
    history_.begin(ask);
    if (is_of_the_program(ask.kind)) open_[ask.number] = {.ask = ask, .kernel = ask.kernel};
    return ok();
  }
  if (what == "extended") {
    begin_extension();
    return ok();
  }
  if (what == "ended") {
    why_over_ = reader.string("why");
    return reader.status();
  }
  const auto number = static_cast<int>(reader.integer("number"));
  TRY(reader.status());
  if (number < 0 || number >= std::ssize(history_.asks())) return fail("no ask {}", number);
  if (what == "written") {
    if (history_.attempt(number) != nullptr)
      return fail("attempt {} was written after it was judged", number);
    TRY_ASSIGN(const Usage usage, usage_from_json(reader.object("usage")));
    take_answer(number, {.text = reader.string("text"),
                         .finish = reader.enumerated<FinishReason>("finish"),
                         .usage = usage,
                         .money = reader.number("cost", cost_of(usage))});
    return reader.status();
  }
  if (what != "judged") return fail("unknown event '{}'", what);
  if (!open_.contains(number)) return fail("attempt {} was judged before it was written", number);
  TRY_ASSIGN(Verdict verdict, verdict_from_json(reader.object("verdict")));
  earlier_seconds_ = reader.number("seconds");
  const auto same_as = static_cast<int>(reader.integer("same_as", kNone));
  TRY(reader.status());
  if (same_as == kNone) history_.claim(content_of(open_.at(number)), number);
  finish(number, std::move(verdict), same_as, earlier_seconds_);
  return ok();
}

// A damaged record must not lead to an attempt that does not exist.
Status Search::check_asked(const Ask& ask) const {
  if (ask.number != std::ssize(history_.asks())) return fail("asks out of order");
  for (const int earlier : {ask.parent, ask.other})
    if (earlier < kNone || earlier >= ask.number)
      return fail("ask {} follows from attempt {}", ask.number, earlier);
  if (ask.kind != AskKind::ptx) return ok();
  if (ask.parent == kNone || history_.attempt(ask.parent) == nullptr)
    return fail("ask {} edits the PTX of an attempt that was not judged", ask.number);
  return ok();
}

Result<std::optional<generate::WriteRequest>> Search::next_request(const generate::Writer& writer) {
  using None = std::optional<generate::WriteRequest>;
  std::optional<Ask> ask;
  if (!unasked_.empty()) {
    ask = history_.asks()[static_cast<std::size_t>(unasked_.front())];
    unasked_.pop_front();
  } else {
    TRY_ASSIGN(ask, choose());
    if (ask && is_of_the_program(ask->kind)) {
      TRY(begin(*ask));
      open_[ask->number] = {.ask = *ask, .kernel = ask->kernel};
      TRY(queue_kernel(ask->number));
      return None();
    }
  }
  if (!ask) return None();
  generate::SamplingParams sampling = request_.sampling;
  if (ask->is_greedy) sampling.temperature = 0;
  const bool is_new = ask->number == std::ssize(history_.asks());
  auto messages = fitting_messages(
      *ask, request_.config, history_, request_.prompting,
      [&](std::span<const text::Message> all) { return writer.has_room(all, sampling); });
  if (ask->kind == AskKind::ptx && !writer.has_room(messages, sampling)) {
    TRY(end(fmt::format("the model has no room for the PTX of {}", ask->edited)));
    return None();
  }
  if (is_new) TRY(begin(*ask));
  return None({.id = static_cast<std::uint64_t>(ask->number),
               .messages = std::move(messages),
               .sampling = sampling,
               .seed = Rng(request_.seed, "search", ask->draw).next_u64()});
}

// Chooses the next ask, if the budget allows it.
Result<std::optional<Ask>> Search::choose() {
  const SearchConfig& config = request_.config;
  if (!why_over_.empty() || history_.in_flight() >= config.workers) return std::optional<Ask>();
  const bool has_new_asks = std::ssize(history_.asks()) > extended_from_;
  const AskKind last = has_new_asks ? history_.asks().back().kind : AskKind::kernel;
  const bool is_tuning = last == AskKind::tune, is_editing = is_below_triton(last);
  const auto reason = reason_to_end(config, history_);
  if (!is_tuning && !is_editing && !reason && has_room_for_one_more(config, history_)) {
    auto ask = next_ask(config, history_, request_.seed);
    if (ask || history_.in_flight() > 0) return ask;
  }
  if (history_.in_flight() > 0 && !is_tuning) return std::optional<Ask>();
  if (!is_editing)
    if (auto ask = next_variant(config, history_)) return ask;
  if (history_.in_flight() > 0) return std::optional<Ask>();
  if (may_edit(config, history_))
    if (auto ask = next_edit(config, history_)) return ask;
  TRY(end(reason.value_or("all that the strategy had to ask was asked") +
          notes_at_the_end(config, history_)));
  return std::optional<Ask>();
}

Status Search::begin(const Ask& ask) {
  TRY(log_.append({{"event", "asked"}, {"ask", to_json(ask)}}));
  history_.begin(ask);
  return ok();
}

Status Search::take(const generate::Written& written) {
  const auto number = static_cast<int>(written.id);
  const Completion& completion = written.completion;
  const double money = cost_of(completion.usage);
  Json event = {{"event", "written"},
                {"number", number},
                {"text", completion.text},
                {"finish", name_of(completion.finish)},
                {"usage", to_json(completion.usage)}};
  if (money > 0) event["cost"] = money;
  TRY(log_.append(event));
  take_answer(number, {.text = completion.text,
                       .finish = completion.finish,
                       .usage = completion.usage,
                       .money = money});
  return queue_kernel(number);
}

void Search::take_answer(int number, Attempt answer) {
  const Ask& ask = history_.asks()[static_cast<std::size_t>(number)];
  answer.ask = ask;
  if (ask.kind == AskKind::kernel) answer.kernel = text::extract_kernel(answer.text).source;
  if (const std::string ptx = ask.kind == AskKind::ptx ? ptx_in(answer.text) : ""; !ptx.empty()) {
    const Attempt& parent = *history_.attempt(ask.parent);
    answer.kernel = parent.kernel;
    answer.ptx = parent.ptx;
    answer.ptx[ask.edited] = ptx;
  }
  open_[number] = std::move(answer);
}

Status Search::queue_kernel(int number) {
  const Attempt& attempt = open_.at(number);
  if (attempt.kernel.empty() && attempt.ask.kind == AskKind::ptx)
    return conclude(number, missing_ptx_verdict(request_.task, request_.policy), kNone);
  if (attempt.kernel.empty()) {
    const Kernel none = text::extract_kernel(attempt.text);
    return conclude(number,
                    none.source.empty()
                        ? gym::api::missing_kernel_verdict(request_.task, none, request_.policy)
                        : Verdict{.task_id = request_.task.id, .policy = request_.policy},
                    kNone);
  }
  const std::string content = content_of(attempt);
  const auto first = history_.first_with(content);
  if (!first) {
    history_.claim(content, number);
    unjudged_.push_back(number);
    return ok();
  }
  if (const Attempt* judged = history_.attempt(*first))
    return conclude(number, judged->verdict, *first);
  waiting_[*first].push_back(number);
  return ok();
}

Result<std::optional<gym::api::JudgeJob>> Search::next_job() {
  if (unjudged_.empty()) return std::optional<gym::api::JudgeJob>();
  const int number = unjudged_.front();
  unjudged_.pop_front();
  const Attempt& attempt = open_.at(number);
  return std::optional<gym::api::JudgeJob>({.id = static_cast<std::uint64_t>(number),
                                            .task = request_.task,
                                            .kernel = attempt.kernel,
                                            .policy = request_.policy,
                                            .backend = request_.backend,
                                            .trials = request_.trials,
                                            .baselines = request_.baselines,
                                            .ptx = attempt.ptx,
                                            .shows_ptx = attempt.ask.kind == AskKind::show});
}

Status Search::take(int number, Verdict verdict) {
  const bool is_fault = verdict.fault == Fault::infrastructure;
  if (is_fault) history_.release(content_of(open_.at(number)));
  TRY(conclude(number, verdict, kNone));
  std::vector<int> equal;  // attempts with the same kernel
  if (const auto at = waiting_.find(number); at != waiting_.end()) equal = std::move(at->second);
  waiting_.erase(number);
  for (const int other : equal) {
    if (is_fault)
      TRY(queue_kernel(other));  // the first of them is judged
    else
      TRY(conclude(other, verdict, number));
  }
  return ok();
}

// A fault of the gym is not written down: the next process judges that kernel again.
Status Search::conclude(int number, Verdict verdict, int same_as) {
  const double now = seconds();
  if (verdict.fault != Fault::infrastructure) {
    Json event = {
        {"event", "judged"}, {"number", number}, {"verdict", to_json(verdict)}, {"seconds", now}};
    if (same_as != kNone) event["same_as"] = same_as;
    TRY(log_.append(event));
  }
  finish(number, std::move(verdict), same_as, now);
  return ok();
}

void Search::finish(int number, Verdict verdict, int same_as, double seconds) {
  Attempt attempt = std::move(open_.at(number));
  open_.erase(number);
  attempt.verdict = std::move(verdict);
  attempt.same_as = same_as;
  attempt.seconds = seconds;
  history_.finish(std::move(attempt));
  finished_.push_back(number);
}

std::optional<int> Search::next_finished() {
  if (finished_.empty()) return std::nullopt;
  const int number = finished_.front();
  finished_.pop_front();
  return number;
}

Status Search::end(std::string why) {
  if (!why_over_.empty()) return ok();
  TRY(log_.append({{"event", "ended"}, {"why", why}, {"seconds", seconds()}}));
  why_over_ = std::move(why);
  return ok();
}

Result<bool> Search::is_over() {
  if (!why_over_.empty()) return true;
  // The last steps follow where the strategy ends with attempts in flight or without.
  if (const double limit = request_.config.seconds; limit > 0 && seconds() >= limit)
    TRY(end(fmt::format("{:.0f} s have passed", limit) +
            notes_at_the_end(request_.config, history_)));
  else if (request_.config.until == Until::first && history_.best() && request_.config.tune == 0 &&
           request_.config.ptx == 0)
    TRY(end("a kernel was accepted"));
  return !why_over_.empty();
}

}  // namespace tritonsmith::search
