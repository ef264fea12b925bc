#include "eval/evaluate.h"

#include <algorithm>

#include "base/config.h"
#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/utc_time.h"
#include "data/sample.h"
#include "eval/kept_options.h"
#include "eval/metrics.h"

namespace tritonsmith::eval {
namespace {

constexpr int kGreedy = -1;  // the member number of the greedy conversation

void add_marks(std::span<const std::string> more, std::vector<std::string>& marks) {
  for (const std::string& mark : more)
    if (std::ranges::find(marks, mark) == marks.end()) marks.push_back(mark);
}

void add_marks(const Conversation& conversation, std::vector<std::string>& marks) {
  for (const Verdict& verdict : conversation.verdicts) add_marks(marks_in(verdict.findings), marks);
}

// The options that decide what is written and how it is judged.
Json what_decides(const EvaluateOptions& options) {
  Json decides = shared_options(options);
  decides["model"] = settled_model(options.model);
  decides["samples"] = options.samples;
  for (const auto& [name, value] : settings_of(options.turns)) decides["turns." + name] = value;
  return decides;
}

// One evaluation in progress. Every conversation has a number: task * (samples + 1) + member + 1.
class Session {
 public:
  Session(std::span<const Task> tasks, const EvaluateOptions& options,
          const PromptedWriter& prompted, gym::api::Judge& judge)
      : tasks_(tasks),
        options_(options),
        prompted_(prompted),
        conversations_(tasks.size() * members()),
        faults_(std::min(gym::api::kFaultsInARow, static_cast<int>(conversations_.size()))),
        episodes_(
            {.turns = options.turns,
             .policy = options.policy,
             .backend = options.backend,
             .trials = options.trials,
             .baselines = options.baselines,
             .patience = std::chrono::hours(24),
             .feedback = prompted.feedback},
            {.writer = prompted.writer,
             .judge = judge,
             .faults = faults_,
             .score = [](const Kernel&, const Verdict& verdict) { return worth_of(verdict); }}),
        progress_("eval " + options.name, conversations_.size()) {}

  Result<Evaluation> run() {
    Stopwatch watch;
    TRY(make_directories(options_.directory));
    TRY(keep_options(options_.directory, what_decides(options_)));
    TRY(read_finished());
    TRY_ASSIGN(auto writer, LineWriter::open(records_file()));
    for (std::size_t number = 0; number < conversations_.size(); ++number) TRY(begin(number));
    for (;;) {
      TRY_ASSIGN(auto turn, episodes_.next());
      if (!turn) break;
      const bool is_last = turn->is_last;
      const Sample sample = sample_of(*std::move(turn));
      TRY(writer.append(to_line(to_json(sample))));
      record(sample);
      if (is_last) show_progress();
    }
    return finish(watch.seconds());
  }

 private:
  std::size_t members() const { return static_cast<std::size_t>(options_.samples) + 1; }
  std::filesystem::path records_file() const { return options_.directory / "samples.jsonl"; }
  const Task& task_of(std::uint64_t number) const { return tasks_[number / members()]; }
  int member_of(std::uint64_t number) const {
    return static_cast<int>(number % members()) + kGreedy;
  }
  std::size_t number_of(const Sample& sample) const {
    return static_cast<std::size_t>(sample.group) * members() +
           static_cast<std::size_t>(sample.member - kGreedy);
  }

  Status read_finished() {
    if (!std::filesystem::exists(records_file())) return ok();
    TRY_ASSIGN(const auto lines, read_lines(records_file()));
    std::string whole;  // the lines that are kept
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto json = parse_json(lines[i]);
      if (!json && i + 1 == lines.size()) break;  // a kill cut this line off; it is judged again
      if (!json)
        return fail("{}:{}: {}; remove the directory to evaluate anew", records_file().string(),
                    i + 1, json.error().message);
      TRY_ASSIGN(const Sample sample, sample_from_json(*json));
      const auto group = static_cast<std::size_t>(sample.group);
      const bool is_known = sample.group >= 0 && group < tasks_.size() &&
                            tasks_[group].id == sample.task_id && sample.member >= kGreedy &&
                            sample.member < options_.samples;
      if (!is_known || sample.turn != std::ssize(conversations_[number_of(sample)].verdicts))
        return fail("{}: records of another evaluation; choose another directory",
                    records_file().string());
      if (sample.verdict.fault == Fault::infrastructure) continue;  // it is judged again
      whole += lines[i] + '\n';
      record(sample);
      played_[number_of(sample)].push_back(
          {.turn = sample.turn, .completion = sample.completion, .verdict = sample.verdict});
    }
    return write_file_atomic(records_file(), whole);
  }

  Status begin(std::size_t number) {
    const Task& task = task_of(number);
    episode::EpisodeRequest request{.id = number,
                                    .task = &task,
                                    .messages = prompted_.prompt(task),
                                    .sampling = options_.sampling,
                                    .seed = Rng(options_.seed, "evaluation", number).next_u64()};
    if (member_of(number) == kGreedy) request.sampling.temperature = 0;
    TRY_ASSIGN(const bool goes_on, episodes_.begin(std::move(request), std::move(played_[number])));
    if (!goes_on) progress_.count_from(++finished_);
    return ok();
  }

  Sample sample_of(episode::PlayedTurn turn) const {
    return {.group = static_cast<int>(turn.episode / members()),
            .member = member_of(turn.episode),
            .turn = turn.turn,
            .task_id = task_of(turn.episode).id,
            .prompt = std::move(turn.prompt),
            .completion = std::move(turn.completion),
            .kernel = std::move(turn.kernel.source),
            .verdict = std::move(turn.verdict)};
  }

  void record(const Sample& sample) {
    Conversation& conversation = conversations_[number_of(sample)];
    if (!conversation.verdicts.empty() && conversation.last().accepted) --accepted_;
    conversation.verdicts.push_back(sample.verdict);
    conversation.tokens.push_back(static_cast<int>(sample.completion.usage.completion_tokens));
    accepted_ += sample.verdict.accepted ? 1 : 0;
    parsed_ += sample.verdict.stage >= Stage::parsed ? 1 : 0;
  }

  void show_progress() { progress_.advance_to(++finished_, fmt::format("accepted {}", accepted_)); }

  Result<Evaluation> finish(double seconds) {
    std::vector<TaskVerdicts> tasks(tasks_.size());
    for (std::size_t number = 0; number < conversations_.size(); ++number) {
      CHECK(!conversations_[number].verdicts.empty(), "conversation {} was never judged", number);
      const Task& task = task_of(number);
      TaskVerdicts& verdicts = tasks[number / members()];
      verdicts.id = task.id;
      verdicts.level = level_of(task.id, task.family, task.suite);
      if (member_of(number) == kGreedy)
        verdicts.greedy = conversations_[number];
      else
        verdicts.sampled.push_back(conversations_[number]);
      add_marks(conversations_[number], verdicts.marks);
    }
    for (TaskVerdicts& task : tasks)
      if (const auto known = options_.marks.find(task.id); known != options_.marks.end())
        add_marks(known->second, task.marks);
    Evaluation evaluation{.name = options_.name,
                          .suite = options_.suite,
                          .model = options_.model,
                          .policy = std::string(name_of(options_.policy)),
                          .turns = options_.turns.limit,
                          .temperature = options_.sampling.temperature,
                          .seconds = seconds,
                          .parsed = parsed_};
    const std::string elsewhere = keep_times_of_one_device(tasks);
    if (!elsewhere.empty())
      LOG("eval: times of other GPUs do not count: {} (--gym-device NAME asks for one kind)",
          elsewhere);
    evaluation.program = options_.program;
    evaluation.date = utc_time();
    summarise(tasks, evaluation);
    evaluation.backend = name_of(conversations_[0].verdicts[0].backend);
    TRY(write_file_atomic(options_.directory / "evaluation.json",
                          to_json(evaluation).dump(2) + "\n"));
    return evaluation;
  }

  std::span<const Task> tasks_;
  const EvaluateOptions& options_;
  const PromptedWriter& prompted_;
  std::vector<Conversation> conversations_;
  std::map<std::size_t, std::vector<episode::PlayedTurn>> played_;  // by an earlier, killed call
  gym::api::FaultStreak faults_;
  episode::Episodes episodes_;
  std::size_t finished_ = 0;
  int accepted_ = 0;  // conversations, at their latest turn
  int parsed_ = 0;    // completions that hold Python
  Progress progress_;
};

}  // namespace

double worth_of(const Verdict& verdict) {
  const double stage = static_cast<double>(verdict.stage) / static_cast<double>(Stage::timed);
  return verdict.accepted ? 1 + verdict.speedup.value_or(0) : stage / 2;
}

Result<Evaluation> evaluate(std::span<const Task> tasks, const EvaluateOptions& options,
                            const PromptedWriter& prompted, gym::api::Judge& judge) {
  if (tasks.empty()) return fail("there are no tasks to evaluate on");
  return Session(tasks, options, prompted, judge).run();
}

}  // namespace tritonsmith::eval
