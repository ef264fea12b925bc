// Episodes: many simultaneous conversations between the model that writes and the gym that judges.
// Each goes from prompt to completion to verdict. In many turns the verdict becomes feedback, and
// the next prompt follows (text/conversation.h). Completions go to the judge as they finish.
// Between the generator's steps the loop looks for verdicts and submits the next turns at once, so
// both work at the same time. Training, evaluation and the assistant all use it. One thread calls
// it.
//
// A completion depends on its request's own seed, not on the order in which others finish.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "base/clock.h"
#include "data/kernel.h"
#include "episode/turns.h"
#include "gym/api/fault_streak.h"
#include "gym/api/judge.h"
#include "rollout/generator.h"
#include "text/chat.h"
#include "text/prompt.h"
#include "text/tokenizer.h"

namespace tritonsmith::episode {

struct EpisodeOptions {
  TurnsConfig turns;
  // limit for the tokens of prompt and completion together; 0: no limit
  std::int64_t positions = 0;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::vector<std::string> baselines = {};  // baselines of every job (gym/api/judge.h)
  std::chrono::seconds patience{600};       // a gym without a verdict for this long is broken
  text::PromptStyle feedback = text::PromptStyle::full;
};

// The time in which one turn is written or judged, as the conversations' thread sees it. Writing
// lasts from the request to the last token, judging from the kernel to the verdict.
struct Stretch {
  enum class What { writing, judging };
  What what = What::writing;
  std::uint64_t job = 0;  // differs between the turns in flight
  TimePoint begin, end;
};

// Seconds in which at least one turn was written, judged, or both.
struct Activity {
  double writing = 0, judging = 0, both = 0;
};

struct EpisodeParts {
  rollout::Generator& generator;
  gym::api::Judge& judge;
  gym::api::FaultStreak& faults;  // the caller's: a row of faults may span several lots of episodes
  const text::Tokenizer& tokenizer;
  const text::ChatTemplate& chat;
  // Returns the score of a turn, for ContextRule::best.
  std::function<double(const Kernel&, const Verdict&)> score;
  // Called at the end of each stretch, for time lines.
  std::function<void(const Stretch&)> observe = nullptr;
};

struct EpisodeRequest {
  std::uint64_t id = 0;  // differs from the episodes in flight and those just before
  const Task* task = nullptr;
  std::vector<TokenId> prompt;
  rollout::SamplingParams sampling;  // stop tokens included
  std::uint64_t seed = 0;
};

struct PlayedTurn {
  std::uint64_t episode = 0;
  int turn = 0;
  Completion completion;  // with its text
  Kernel kernel;
  Verdict verdict;
  bool is_last = false;
};

class Episodes {
 public:
  Episodes(EpisodeOptions options, EpisodeParts parts)
      : options_(options), parts_(std::move(parts)) {}

  // `played` has the episode's first turns if it resumes after a kill; next() does not return them.
  // Returns false if the episode is over already.
  Result<bool> begin(EpisodeRequest request, std::vector<PlayedTurn> played = {});
  // Returns the next judged turn in the order in which turns finish. Returns nothing when all
  // episodes are over.
  Result<std::optional<PlayedTurn>> next();

  std::size_t written() const { return written_; }
  std::size_t judged() const { return judged_; }
  // The time at which the latest completion was finished.
  double seconds_of_writing() const { return seconds_of_writing_; }
  const Activity& activity() const { return activity_; }

 private:
  struct Episode {
    EpisodeRequest request;
    std::vector<text::PastTurn> past;
  };
  struct Place {
    std::uint64_t episode;
    int turn;
  };
  std::uint64_t job_of(const Place& device) const;
  std::optional<Place> place_of(std::uint64_t job) const;

  // Before something begins or ends: what was going on until now.
  void account();
  void end_stretch(Stretch::What what, std::uint64_t job);

  // The next thing that happens while something is being written.
  Status write_or_judge();
  Status write_turn(Place device, std::vector<TokenId> prompt);
  Status take_completion(Place device, Completion completion);
  Result<bool> take_verdict(Deadline deadline);
  // Its verdict is there: what follows?
  Status conclude(PlayedTurn turn);
  // The next turn's prompt; nothing when the conversation is over or has no room left.
  std::optional<std::vector<TokenId>> prompt_after(Episode& episode, const PlayedTurn& turn) const;

  EpisodeOptions options_;
  EpisodeParts parts_;
  std::map<std::uint64_t, Episode> episodes_;  // that are not over
  std::map<std::uint64_t, PlayedTurn> judging_;
  std::deque<PlayedTurn> finished_;
  std::size_t writing_ = 0, written_ = 0, judged_ = 0;
  Stopwatch watch_;
  double seconds_of_writing_ = 0;
  Activity activity_;
  double accounted_ = 0;                      // until then, by watch_
  std::map<std::uint64_t, TimePoint> began_;  // of each job's stretch under way
};

// Returns the completion's tokens without the stop token that ended it.
std::span<const TokenId> without_stop_token(const Completion& completion);

}  // namespace tritonsmith::episode
