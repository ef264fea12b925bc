#include "episode/episodes.h"

#include "base/check.h"
#include "base/rng.h"
#include "gym/api/missing_kernel.h"
#include "text/extract.h"
#include "text/feedback.h"

namespace tritonsmith::episode {
namespace {

// The time for which the writer works between two looks for verdicts. It is short compared with a
// completion, and long compared with a look.
constexpr Milliseconds kBetweenLooks{20};

}  // namespace

std::uint64_t Episodes::job_of(const TurnId& id) const {
  return id.episode * static_cast<std::uint64_t>(options_.turns.limit) +
         static_cast<std::uint64_t>(id.turn);
}

// Returns the turn of a job, or nothing if the job's turn is not in flight or the job belongs to
// another caller.
std::optional<Episodes::TurnId> Episodes::turn_of(std::uint64_t job) const {
  const auto limit = static_cast<std::uint64_t>(options_.turns.limit);
  const TurnId id{.episode = job / limit, .turn = static_cast<int>(job % limit)};
  const auto at = episodes_.find(id.episode);
  if (at == episodes_.end() || at->second.past.size() != static_cast<std::size_t>(id.turn))
    return std::nullopt;
  return id;
}

Result<bool> Episodes::begin(EpisodeRequest request, std::vector<PlayedTurn> played) {
  const std::uint64_t id = request.id;
  Episode& episode = episodes_[id];
  CHECK(episode.request.task == nullptr, "episode {} is in flight already", id);
  episode.request = std::move(request);
  std::vector<text::Message> messages = episode.request.messages;
  for (const PlayedTurn& turn : played) {
    auto after = messages_after(episode, turn);
    if (!after) {
      episodes_.erase(id);
      return false;
    }
    messages = *std::move(after);
  }
  TRY(write_turn({.episode = id, .turn = static_cast<int>(played.size())}, std::move(messages)));
  return true;
}

Result<std::optional<PlayedTurn>> Episodes::next() {
  for (;;) {
    if (!finished_.empty()) {
      std::optional<PlayedTurn> first = std::move(finished_.front());
      finished_.pop_front();
      return first;
    }
    if (writing_ > 0) {
      TRY(write_or_judge());
      continue;
    }
    if (judging_.empty()) return std::optional<PlayedTurn>();
    TRY_ASSIGN(const bool took, take_verdict(Deadline::after(options_.patience)));
    if (!took)
      return fail_by_fault(
          "the gym gave no verdict for {} s while {} are missing; `tritonsmith doctor` "
          "may say why, judge.patience_seconds allows more",
          options_.patience.count(), judging_.size());
  }
}

Status Episodes::write_or_judge() {
  const Deadline pause = judging_.empty() ? Deadline::never() : Deadline::after(kBetweenLooks);
  TRY_ASSIGN(auto written, parts_.writer.next_by(pause));
  if (!written && !pause.passed()) return fail_by_fault("the writer lost {} completions", writing_);
  const auto id = written ? turn_of(written->id) : std::nullopt;
  if (id) TRY(take_completion(*id, *std::move(written)));
  for (bool took = true; took && !judging_.empty();) {
    TRY_ASSIGN(took, take_verdict(Deadline::after(Milliseconds(0))));
  }
  return ok();
}

void Episodes::account() {
  const double now = watch_.seconds(), passed = now - accounted_;
  const bool is_writing = writing_ > 0, is_judging = !judging_.empty();
  activity_.writing += is_writing ? passed : 0;
  activity_.judging += is_judging ? passed : 0;
  activity_.both += is_writing && is_judging ? passed : 0;
  accounted_ = now;
}

void Episodes::end_phase(TurnPhase phase, std::uint64_t job) {
  const TimePoint now = system_clock().now();
  if (parts_.observe)
    parts_.observe({.phase = phase, .job = job, .begin = began_.at(job), .end = now});
  began_.erase(job);
}

Status Episodes::write_turn(TurnId id, std::vector<text::Message> messages) {
  const EpisodeRequest& request = episodes_.at(id.episode).request;
  const std::uint64_t seed =
      id.turn == 0 ? request.seed
                   : Rng(request.seed, "turn", static_cast<std::uint64_t>(id.turn)).next_u64();
  TRY_WITHIN(request.task->id, parts_.writer.submit({.id = job_of(id),
                                                     .messages = std::move(messages),
                                                     .sampling = request.sampling,
                                                     .seed = seed}));
  account();
  began_[job_of(id)] = system_clock().now();
  ++writing_;
  return ok();
}

Status Episodes::take_completion(TurnId id, generate::Written written) {
  account();
  end_phase(TurnPhase::writing, job_of(id));
  --writing_;
  ++written_;
  seconds_of_writing_ = watch_.seconds();
  const Task& task = *episodes_.at(id.episode).request.task;
  PlayedTurn turn{.episode = id.episode, .turn = id.turn, .prompt = std::move(written.prompt)};
  turn.kernel = text::extract_kernel(written.completion.text, written.token_ends);
  turn.completion = std::move(written.completion);
  if (turn.kernel.source.empty()) {
    turn.verdict = gym::api::missing_kernel_verdict(task, turn.kernel, options_.policy);
    return conclude(std::move(turn));
  }
  TRY(parts_.judge.submit({.id = job_of(id),
                           .task = task,
                           .kernel = turn.kernel.source,
                           .policy = options_.policy,
                           .backend = options_.backend,
                           .trials = options_.trials,
                           .baselines = options_.baselines}));
  account();
  began_[job_of(id)] = system_clock().now();
  judging_.emplace(job_of(id), std::move(turn));
  return ok();
}

// Takes one verdict. Returns false if the deadline passes without one.
Result<bool> Episodes::take_verdict(Deadline deadline) {
  TRY_ASSIGN(auto judged, parts_.judge.next(deadline));
  if (!judged) return false;
  const auto at = judging_.find(judged->id);
  if (at == judging_.end()) return true;  // the job is of an earlier step or of another caller
  account();
  end_phase(TurnPhase::judging, judged->id);
  TRY(parts_.faults.take(judged->verdict));
  PlayedTurn turn = std::move(at->second);
  judging_.erase(at);
  turn.verdict = std::move(judged->verdict);
  TRY(conclude(std::move(turn)));
  return true;
}

Status Episodes::conclude(PlayedTurn turn) {
  ++judged_;
  Episode& episode = episodes_.at(turn.episode);
  auto messages = messages_after(episode, turn);
  turn.is_last = !messages;
  if (messages)
    TRY(write_turn({.episode = turn.episode, .turn = turn.turn + 1}, *std::move(messages)));
  else
    episodes_.erase(turn.episode);
  finished_.push_back(std::move(turn));
  return ok();
}

std::optional<std::vector<text::Message>> Episodes::messages_after(Episode& episode,
                                                                   const PlayedTurn& turn) const {
  if (is_over(turn.turn, turn.verdict, options_.turns)) return std::nullopt;
  episode.past.push_back({.answer = {.role = text::Role::assistant,
                                     .content = turn.completion.text,
                                     .tokens = turn.completion.tokens},
                          .feedback = text::feedback_text(turn.verdict, options_.feedback),
                          .score = parts_.score ? parts_.score(turn.kernel, turn.verdict) : 0});
  std::vector<double> scores;
  for (const text::PastTurn& past : episode.past) scores.push_back(past.score);
  const text::ContextRule rule = options_.turns.context;
  // A managed context drops turns until the prompt fits. If the context is whole, the conversation
  // ends.
  for (auto keep = static_cast<std::size_t>(options_.turns.keep); keep > 0; --keep) {
    auto messages = text::next_messages(episode.request.messages, episode.past,
                                        text::turns_to_show(scores, rule, keep));
    if (parts_.writer.has_room(messages, episode.request.sampling)) return messages;
    if (rule == text::ContextRule::all) break;
  }
  return std::nullopt;
}

}  // namespace tritonsmith::episode
