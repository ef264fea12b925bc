#include "episode/episodes.h"

#include "base/check.h"
#include "base/rng.h"
#include "gym/api/missing_kernel.h"
#include "rollout/stop_strings.h"
#include "text/extract.h"
#include "text/feedback.h"
#include "text/stream_decoder.h"

namespace tritonsmith::episode {
namespace {

// Between two looks for verdicts: short beside what a completion takes, long beside a look.
constexpr Milliseconds kBetweenLooks{20};

}  // namespace

std::span<const TokenId> without_stop_token(const Completion& completion) {
  const std::span<const TokenId> tokens = completion.tokens;
  const bool has_one = completion.finish == FinishReason::stop && !tokens.empty();
  return has_one ? tokens.first(tokens.size() - 1) : tokens;
}

std::uint64_t Episodes::job_of(const Place& device) const {
  return device.episode * static_cast<std::uint64_t>(options_.turns.limit) +
         static_cast<std::uint64_t>(device.turn);
}

// Nothing for what belongs to an episode that is not in flight, or to somebody else.
std::optional<Episodes::Place> Episodes::place_of(std::uint64_t job) const {
  const auto limit = static_cast<std::uint64_t>(options_.turns.limit);
  const Place device{.episode = job / limit, .turn = static_cast<int>(job % limit)};
  const auto at = episodes_.find(device.episode);
  if (at == episodes_.end() || at->second.past.size() != static_cast<std::size_t>(device.turn))
    return std::nullopt;
  return device;
}

Result<bool> Episodes::begin(EpisodeRequest request, std::vector<PlayedTurn> played) {
  const std::uint64_t id = request.id;
  Episode& episode = episodes_[id];
  CHECK(episode.request.task == nullptr, "episode {} is in flight already", id);
  episode.request = std::move(request);
  std::vector<TokenId> prompt = episode.request.prompt;
  for (const PlayedTurn& turn : played) {
    auto after = prompt_after(episode, turn);
    if (!after) {
      episodes_.erase(id);
      return false;
    }
    prompt = *std::move(after);
  }
  TRY(write_turn({.episode = id, .turn = static_cast<int>(played.size())}, std::move(prompt)));
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
      return fail(
          "the gym gave no verdict for {} s while {} are missing; `tritonsmith doctor` "
          "may say why, judge.patience_seconds allows more",
          options_.patience.count(), judging_.size());
  }
}

Status Episodes::write_or_judge() {
  const Deadline pause = judging_.empty() ? Deadline::never() : Deadline::after(kBetweenLooks);
  TRY_ASSIGN(auto generated, parts_.generator.next_by(pause));
  if (!generated && !pause.passed()) return fail("the generator lost {} completions", writing_);
  const auto device = generated ? place_of(generated->id) : std::nullopt;
  if (device) TRY(take_completion(*device, std::move(generated->completion)));
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

void Episodes::end_stretch(Stretch::What what, std::uint64_t job) {
  const TimePoint now = system_clock().now();
  if (parts_.observe)
    parts_.observe({.what = what, .job = job, .begin = began_.at(job), .end = now});
  began_.erase(job);
}

Status Episodes::write_turn(Place device, std::vector<TokenId> prompt) {
  const EpisodeRequest& request = episodes_.at(device.episode).request;
  const std::uint64_t seed =
      device.turn == 0
          ? request.seed
          : Rng(request.seed, "turn", static_cast<std::uint64_t>(device.turn)).next_u64();
  TRY_WITHIN(request.task->id,
             parts_.generator.submit(
                 {.id = job_of(device),
                  .prompt = std::move(prompt),
                  .sampling = request.sampling,
                  .seed = seed,
                  .is_complete = rollout::holds_any_of(request.sampling.stop, parts_.tokenizer)}));
  account();
  began_[job_of(device)] = system_clock().now();
  ++writing_;
  return ok();
}

Status Episodes::take_completion(Place device, Completion completion) {
  account();
  end_stretch(Stretch::What::writing, job_of(device));
  --writing_;
  ++written_;
  seconds_of_writing_ = watch_.seconds();
  auto decoded = text::decode_with_ends(parts_.tokenizer, without_stop_token(completion));
  const Task& task = *episodes_.at(device.episode).request.task;
  PlayedTurn turn{.episode = device.episode, .turn = device.turn};
  turn.kernel = text::extract_kernel(decoded.text, decoded.token_ends);
  completion.text = std::move(decoded.text);
  turn.completion = std::move(completion);
  if (turn.kernel.source.empty()) {
    turn.verdict = gym::api::missing_kernel_verdict(task, turn.kernel, options_.policy);
    return conclude(std::move(turn));
  }
  TRY(parts_.judge.submit({.id = job_of(device),
                           .task = task,
                           .kernel = turn.kernel.source,
                           .policy = options_.policy,
                           .backend = options_.backend,
                           .trials = options_.trials,
                           .baselines = options_.baselines}));
  account();
  began_[job_of(device)] = system_clock().now();
  judging_.emplace(job_of(device), std::move(turn));
  return ok();
}

// False when the deadline passed without one.
Result<bool> Episodes::take_verdict(Deadline deadline) {
  TRY_ASSIGN(auto judged, parts_.judge.next(deadline));
  if (!judged) return false;
  const auto at = judging_.find(judged->id);
  if (at == judging_.end()) return true;  // of a job of an earlier step, or of somebody else
  account();
  end_stretch(Stretch::What::judging, judged->id);
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
  auto prompt = prompt_after(episode, turn);
  turn.is_last = !prompt;
  if (prompt)
    TRY(write_turn({.episode = turn.episode, .turn = turn.turn + 1}, *std::move(prompt)));
  else
    episodes_.erase(turn.episode);
  finished_.push_back(std::move(turn));
  return ok();
}

std::optional<std::vector<TokenId>> Episodes::prompt_after(Episode& episode,
                                                           const PlayedTurn& turn) const {
  if (is_over(turn.turn, turn.verdict, options_.turns)) return std::nullopt;
  episode.past.push_back({.completion = turn.completion.tokens,
                          .feedback = text::feedback_text(turn.verdict, options_.feedback),
                          .score = parts_.score ? parts_.score(turn.kernel, turn.verdict) : 0});
  std::vector<double> scores;
  for (const text::PastTurn& past : episode.past) scores.push_back(past.score);
  const text::ContextRule rule = options_.turns.context;
  // A managed context gives up turns until the prompt fits, a whole one ends the conversation.
  for (auto keep = static_cast<std::size_t>(options_.turns.keep); keep > 0; --keep) {
    auto prompt = text::next_prompt(parts_.chat, episode.request.prompt, episode.past,
                                    text::turns_to_show(scores, rule, keep));
    const std::int64_t length = std::ssize(prompt) + episode.request.sampling.max_new_tokens;
    if (options_.positions == 0 || length <= options_.positions) return prompt;
    if (rule == text::ContextRule::all) break;
  }
  return std::nullopt;
}

}  // namespace tritonsmith::episode
