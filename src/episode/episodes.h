// Episodes: many conversations at once between a writer and the judge. A turn is a prompt, a
// completion and a verdict. In a conversation of several turns the verdict becomes feedback, and
// the next prompt follows (text/conversation.h).
//
// Completions go to the judge as they finish. Between the writer's steps the episodes look for
// verdicts, and each verdict brings the next turn to the writer at once. So writer and judge work
// in parallel. Training, evaluation and the assistant all use this class. One thread calls it.
//
// A completion depends on its request's own seed, and not on which request finished first.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "base/clock.h"
#include "data/kernel.h"
#include "episode/turns.h"
#include "generate/writer.h"
#include "gym/api/fault_streak.h"
#include "gym/api/judge.h"
#include "text/prompt.h"

namespace tritonsmith::episode {

struct EpisodeOptions {
  TurnsConfig turns;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::vector<std::string> baselines = {};  // baselines of every job (gym/api/judge.h)
  std::chrono::seconds patience{600};       // a gym without a verdict for this long is broken
  text::PromptStyle feedback = text::PromptStyle::full;
};

// The time in which one turn was written, from the request to the last token, or judged, from the
// kernel to the verdict. The thread of the episodes measures it.
enum class TurnPhase { writing, judging };
struct PhaseTime {
  TurnPhase phase = TurnPhase::writing;
  std::uint64_t job = 0;  // differs between the turns in flight
  TimePoint begin, end;
};

// Seconds in which at least one turn was written, judged, or both.
struct Activity {
  double writing = 0, judging = 0, both = 0;
};

struct EpisodeParts {
  generate::Writer& writer;
  gym::api::Judge& judge;
  gym::api::FaultStreak&
      faults;  // the caller owns it, as a row of faults may span several Episodes
  // Returns the value of a turn, which ContextRule::best compares. Null: every turn has the value
  // 0.
  std::function<double(const Kernel&, const Verdict&)> score;
  // Receives each phase at its end, for a time line.
  std::function<void(const PhaseTime&)> observe = nullptr;
};

struct EpisodeRequest {
  std::uint64_t id = 0;  // differs from the episodes in flight and those just before
  const Task* task = nullptr;
  std::vector<text::Message> messages;  // of the first turn's prompt
  generate::SamplingParams sampling;
  std::uint64_t seed = 0;
};

struct PlayedTurn {
  std::uint64_t episode = 0;
  int turn = 0;
  std::string prompt;     // as the model read it
  Completion completion;  // with its text; with tokens where the writer has them
  Kernel kernel;
  Verdict verdict;
  bool is_last = false;
};

class Episodes {
 public:
  Episodes(EpisodeOptions options, EpisodeParts parts)
      : options_(options), parts_(std::move(parts)) {}

  // Begins an episode. If it continues one that was interrupted, `played` has the first turns,
  // which next() does not return again. Returns false if the episode is over with these.
  Result<bool> begin(EpisodeRequest request, std::vector<PlayedTurn> played = {});
  // Returns the next judged turn in the order in which turns finish. Returns nothing when all
  // episodes are over.
  Result<std::optional<PlayedTurn>> next();

  std::size_t written() const { return written_; }
  std::size_t judged() const { return judged_; }
  // Returns the time at which the latest completion was finished.
  double seconds_of_writing() const { return seconds_of_writing_; }
  const Activity& activity() const { return activity_; }

 private:
  struct Episode {
    EpisodeRequest request;
    std::vector<text::PastTurn> past;
  };
  struct TurnId {
    std::uint64_t episode;
    int turn;
  };
  std::uint64_t job_of(const TurnId& id) const;
  std::optional<TurnId> turn_of(std::uint64_t job) const;

  // Adds the time since the last call to the activity. Callers do this before a phase begins or
  // ends.
  void account();
  void end_phase(TurnPhase phase, std::uint64_t job);

  // Waits for the next completion or verdict, while something is being written.
  Status write_or_judge();
  Status write_turn(TurnId id, std::vector<text::Message> messages);
  Status take_completion(TurnId id, generate::Written written);
  Result<bool> take_verdict(Deadline deadline);
  // Takes a turn that has its verdict, and begins the next turn or ends the episode.
  Status conclude(PlayedTurn turn);
  // Returns the messages of the next turn. Returns nothing if the conversation is over, or if the
  // writer's context has no room.
  std::optional<std::vector<text::Message>> messages_after(Episode& episode,
                                                           const PlayedTurn& turn) const;

  EpisodeOptions options_;
  EpisodeParts parts_;
  std::map<std::uint64_t, Episode> episodes_;  // that are not over
  std::map<std::uint64_t, PlayedTurn> judging_;
  std::deque<PlayedTurn> finished_;
  std::size_t writing_ = 0, written_ = 0, judged_ = 0;
  Stopwatch watch_;
  double seconds_of_writing_ = 0;
  Activity activity_;
  double accounted_ = 0;                      // activity_ has the time until then, by watch_
  std::map<std::uint64_t, TimePoint> began_;  // when each job's current phase began
};

}  // namespace tritonsmith::episode
