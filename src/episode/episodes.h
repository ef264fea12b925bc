// Episodes: many conversations at once between the model that writes and the gym that judges. Each
// goes prompt, completion, verdict; in many turns the verdict becomes feedback, and the next prompt
// follows (text/conversation.h). Completions go on to the judge as they finish, and verdicts are
// looked for between the generator's steps and bring the next turn to it at once, so both work side
// by side. Training, evaluation and the
// assistant are all played by this. One thread calls it.
//
// What is written depends on each request's own seed, not on which finished first.
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
  std::int64_t positions = 0;  // a prompt and its completion must fit in so many; 0: no limit
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::vector<std::string> baselines = {};  // of every job (gym/api/judge.h)
  std::chrono::seconds patience{600};       // a gym that gives no verdict for so long is broken
  text::PromptStyle feedback = text::PromptStyle::full;
};

// One turn being written, from the request to the last token, or judged, from the kernel to the
// verdict; each as the conversations' thread saw it.
struct Stretch {
  enum class What { writing, judging };
  What what = What::writing;
  std::uint64_t job = 0;  // differs between the turns in flight
  TimePoint begin, end;
};

// Seconds in which something was being written, judged, or both.
struct Activity {
  double writing = 0, judging = 0, both = 0;
};

struct EpisodeParts {
  rollout::Generator& generator;
  gym::api::Judge& judge;
  gym::api::FaultStreak& faults;  // the caller's: a row of faults may span several lots of episodes
  const text::Tokenizer& tokenizer;
  const text::ChatTemplate& chat;
  // What a turn is worth, for ContextRule::best.
  std::function<double(const Kernel&, const Verdict&)> score;
  // Told of each stretch when it ends; for who draws time lines.
  std::function<void(const Stretch&)> observe = nullptr;
};

struct EpisodeRequest {
  std::uint64_t id = 0;  // differs between the episodes in flight, and from those just before
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

  // `played`: its first turns, when it goes on after a kill; they are not given again. False: it is
  // over already.
  Result<bool> begin(EpisodeRequest request, std::vector<PlayedTurn> played = {});
  // The next judged turn, in whatever order they finish; nothing when all episodes are over.
  Result<std::optional<PlayedTurn>> next();

  std::size_t written() const { return written_; }
  std::size_t judged() const { return judged_; }
  // When the last completion until now was finished.
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

// The completion's tokens but the stop token that ended it.
std::span<const TokenId> without_stop_token(const Completion& completion);

}  // namespace tritonsmith::episode
