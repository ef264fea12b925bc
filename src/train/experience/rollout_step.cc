#include "train/experience/rollout_step.h"

#include "base/rng.h"
#include "distributed/shares.h"

namespace tritonsmith::train {
namespace {

JudgedSample judged_sample(episode::PlayedTurn turn, std::size_t number, const Prompted& prompted,
                           const RolloutOptions& options) {
  const auto samples = static_cast<std::size_t>(options.samples);
  Sample sample{.step = options.step,
                .group = options.first_group + static_cast<int>(number / samples),
                .member = static_cast<int>(number % samples),
                .turn = turn.turn,
                .task_id = prompted.task->id,
                .prompt = std::move(turn.prompt),
                .completion = std::move(turn.completion),
                .kernel = turn.kernel.source,
                .verdict = std::move(turn.verdict)};
  return {.sample = std::move(sample), .kernel = std::move(turn.kernel)};
}

TraceSpan span_of(const episode::PhaseTime& time) {
  const bool is_writing = time.phase == episode::TurnPhase::writing;
  return {.lane = is_writing ? TraceLane::writing : TraceLane::judging,
          .name = is_writing ? "written" : "judged",
          .number = time.job,
          .begin = time.begin,
          .end = time.end};
}

// Hands out groups in order. A group waits until it and all groups before it are complete.
class GroupLine {
 public:
  GroupLine(std::vector<std::vector<JudgedSample>>& turns, std::size_t samples)
      : turns_(turns), samples_(samples), unfinished_(turns.size() / samples, samples) {}

  void finish_sample(std::size_t number) { --unfinished_[number / samples_]; }
  void hand_out(const std::function<void(std::vector<JudgedSample>)>& take) {
    for (; next_ < unfinished_.size() && unfinished_[next_] == 0; ++next_) {
      std::vector<JudgedSample> group;
      for (std::size_t number = next_ * samples_; number < (next_ + 1) * samples_; ++number)
        for (JudgedSample& turn : std::exchange(turns_[number], {}))
          group.push_back(std::move(turn));
      take(std::move(group));
    }
  }

 private:
  std::vector<std::vector<JudgedSample>>& turns_;
  std::size_t samples_, next_ = 0;
  std::vector<std::size_t> unfinished_;  // for each group, the number of its unfinished samples
};

}  // namespace

void Experience::append(Experience more) {
  for (JudgedSample& sample : more.samples) samples.push_back(std::move(sample));
  generate_seconds += more.generate_seconds;
  wait_seconds += more.wait_seconds;
  activity.writing += more.activity.writing;
  activity.judging += more.activity.judging;
  activity.both += more.activity.both;
  for (TraceSpan& span : more.spans) spans.push_back(std::move(span));
}

Result<Experience> roll_out(const std::vector<Prompted>& prompts, const RolloutOptions& options,
                            const RolloutParts& parts) {
  const std::size_t total = prompts.size() * static_cast<std::size_t>(options.samples);
  // Ids also differ between the prompt batches of a run. A late verdict of an earlier batch is
  // therefore never taken for one of this batch.
  const std::uint64_t first = static_cast<std::uint64_t>(options.prompt_batch) * total;
  const auto prompt_of = [&](std::size_t number) -> const Prompted& {
    return prompts[number / static_cast<std::size_t>(options.samples)];
  };
  // A rank takes adjacent samples, so that the samples of a prompt stay together.
  const distributed::Range own = distributed::range_of(total, options.rank, options.ranks);
  const Stopwatch watch;
  std::vector<TraceSpan> spans;
  episode::EpisodeParts observed = parts.episode;
  if (options.is_traced)
    observed.observe = [&spans](const episode::PhaseTime& time) { spans.push_back(span_of(time)); };
  episode::Episodes episodes(options.episode, std::move(observed));
  for (std::size_t number = own.begin; number < own.end; ++number)
    TRY(episodes.begin({.id = first + number,
                        .task = prompt_of(number).task,
                        .messages = prompt_of(number).messages,
                        .sampling = options.sampling,
                        .seed = Rng(options.seed, "rollout", first + number).next_u64()}));
  std::vector<std::vector<JudgedSample>> turns(total);
  GroupLine line(turns, static_cast<std::size_t>(options.samples));
  for (;;) {
    TRY_ASSIGN(auto turn, episodes.next());
    if (!turn) break;
    const std::size_t number = turn->episode - first;
    const bool is_last = turn->is_last;
    turns[number].push_back(judged_sample(*std::move(turn), number, prompt_of(number), options));
    if (is_last) line.finish_sample(number);
    if (parts.on_group) line.hand_out(parts.on_group);
    if (parts.on_progress) parts.on_progress(episodes.written(), episodes.judged());
  }
  Experience experience{.samples = {},
                        .generate_seconds = episodes.seconds_of_writing(),
                        .wait_seconds = watch.seconds() - episodes.seconds_of_writing(),
                        .activity = episodes.activity(),
                        .spans = std::move(spans)};
  for (auto& of_sample : turns)
    for (JudgedSample& turn : of_sample) experience.samples.push_back(std::move(turn));
  return experience;
}

}  // namespace tritonsmith::train
