#include "distil/distil_run.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/jsonl.h"
#include "base/rng.h"
#include "distil/distil_record.h"
#include "eval/evaluate.h"
#include "eval/kept_options.h"
#include "text/feedback.h"

namespace tritonsmith::distil {
namespace {

Json what_decides(const DistilOptions& options) {
  Json decides = eval::shared_options(options);
  decides["model"] = options.model;
  decides["prompts"] = Json::array();
  for (const PromptForm each : options.forms) decides["prompts"].push_back(name_of(each));
  decides["system"] = options.system;
  decides["samples"] = options.samples;
  for (const auto& [name, value] : settings_of(options.turns)) decides["turns." + name] = value;
  return decides;
}

// Every conversation has a number: (task * forms + form) * samples + sample.
class Session {
 public:
  Session(std::span<const Task> tasks, const DistilOptions& options, generate::Writer& writer,
          gym::api::Judge& judge, const OnProgress& on_progress)
      : tasks_(tasks),
        options_(options),
        writer_(writer),
        on_progress_(on_progress),
        total_(tasks.size() * members()),
        faults_(gym::api::kFaultsInARow),
        episodes_({.turns = options.turns,
                   .policy = options.policy,
                   .backend = options.backend,
                   .trials = options.trials,
                   .patience = std::chrono::hours(24)},
                  {.writer = writer,
                   .judge = judge,
                   .faults = faults_,
                   .score = [](const Kernel&, const Verdict& verdict) {
                     return eval::worth_of(verdict);
                   }}) {}

  Result<DistilCounts> run() {
    TRY(make_directories(options_.directory));
    TRY(eval::keep_options(options_.directory, what_decides(options_)));
    TRY(keep_tasks());
    TRY(read_records());
    TRY_ASSIGN(auto records, LineWriter::open(records_file()));
    TRY(begin_more());
    for (;;) {
      TRY_ASSIGN(auto turn, episodes_.next());
      if (!turn) break;
      const bool is_last = turn->is_last;
      const DistilRecord record = record_of(*std::move(turn));
      TRY(records.append(to_line(to_json(record))));
      count(record.sample);
      if (is_last) end();
      TRY(begin_more());
    }
    return counts_;
  }

 private:
  std::size_t members() const {
    return options_.forms.size() * static_cast<std::size_t>(options_.samples);
  }
  std::filesystem::path records_file() const { return options_.directory / "samples.jsonl"; }
  const Task& task_of(std::size_t number) const { return tasks_[number / members()]; }
  PromptForm form_of(std::size_t number) const {
    return options_.forms[number % members() / static_cast<std::size_t>(options_.samples)];
  }

  Status keep_tasks() {
    std::string lines;
    for (const Task& each : tasks_) lines += to_line(to_json(each)) + "\n";
    const std::filesystem::path file = options_.directory / "tasks.jsonl";
    if (!std::filesystem::exists(file)) return write_file_atomic(file, lines);
    TRY_ASSIGN(const std::string before, read_file(file));
    if (before == lines) return ok();
    return fail("{}: holds a run with other tasks; choose another --out",
                options_.directory.string());
  }

  // Turns of a conversation that a fault of the gym ended are dropped from that fault on.
  Status read_records() {
    if (!std::filesystem::exists(records_file())) return ok();
    std::string whole;
    const auto read_line = [&](const JsonLine& line) -> Status {
      TRY_ASSIGN(const DistilRecord record, record_from_json(line.json));
      const Sample& sample = record.sample;
      const std::size_t number = static_cast<std::size_t>(sample.group) * members() +
                                 static_cast<std::size_t>(sample.member);
      if (sample.group < 0 || sample.member < 0 || number >= total_ ||
          sample.turn != std::ssize(played_[number]))
        return fail("the line belongs to another run");
      if (sample.verdict.fault == Fault::infrastructure) return ok();
      whole += to_line(line.json) + "\n";
      played_[number].push_back(
          {.turn = sample.turn, .completion = sample.completion, .verdict = sample.verdict});
      count(sample);
      return ok();
    };
    TRY(for_each_json_line(records_file(), {.last_line = LastLine::may_be_cut_off}, read_line));
    return write_file_atomic(records_file(), whole);
  }

  // Keeps `in_flight` conversations going.
  Status begin_more() {
    while (begun_ < total_ && open_ < options_.in_flight) TRY(begin(begun_++));
    return ok();
  }

  Status begin(std::size_t number) {
    const Task& task = task_of(number);
    auto messages = teacher_prompt(task, form_of(number), options_.system);
    if (!messages) return ok();
    ++counts_.conversations;
    if (!writer_.has_room(*messages, options_.sampling)) {
      ++counts_.too_long;
      return ok();
    }
    auto before = played_.extract(number);
    TRY_ASSIGN(const bool goes_on,
               episodes_.begin({.id = number,
                                .task = &task,
                                .messages = *std::move(messages),
                                .sampling = options_.sampling,
                                .seed = Rng(options_.seed, "distil", number).next_u64()},
                               before.empty() ? std::vector<episode::PlayedTurn>()
                                              : std::move(before.mapped())));
    ++open_;
    if (goes_on) return ok();
    ++counts_.finished_before;
    end();
    return ok();
  }

  DistilRecord record_of(episode::PlayedTurn turn) const {
    const std::size_t number = turn.episode;
    DistilRecord record{.sample = {.group = static_cast<int>(number / members()),
                                   .member = static_cast<int>(number % members()),
                                   .turn = turn.turn,
                                   .task_id = task_of(number).id,
                                   .prompt = std::move(turn.prompt),
                                   .completion = std::move(turn.completion),
                                   .kernel = std::move(turn.kernel.source),
                                   .verdict = std::move(turn.verdict)},
                        .form = form_of(number),
                        .messages = {},
                        .feedback = {}};
    record.feedback = text::feedback_text(record.sample.verdict, text::PromptStyle::full);
    if (turn.turn == 0)
      record.messages = *teacher_prompt(task_of(number), record.form, options_.system);
    return record;
  }

  void count(const Sample& sample) {
    const Verdict& verdict = sample.verdict;
    ++counts_.turns;
    counts_.tokens += sample.completion.usage.completion_tokens;
    counts_.faults += verdict.fault == Fault::infrastructure ? 1 : 0;
    counts_.accepted += verdict.accepted ? 1 : 0;
    const std::size_t number = static_cast<std::size_t>(sample.group) * members() +
                               static_cast<std::size_t>(sample.member);
    if (!verdict.accepted) unrepaired_.insert(number);
    if (verdict.accepted && unrepaired_.erase(number) > 0) ++counts_.repaired;
  }

  void end() {
    --open_;
    ++counts_.finished;
    on_progress_(counts_);
  }

  std::span<const Task> tasks_;
  const DistilOptions& options_;
  generate::Writer& writer_;
  const OnProgress& on_progress_;
  std::size_t total_, begun_ = 0, open_ = 0;
  DistilCounts counts_;
  std::map<std::size_t, std::vector<episode::PlayedTurn>> played_;  // by an earlier, killed call
  std::set<std::size_t> unrepaired_;  // conversations whose latest turn is not accepted
  gym::api::FaultStreak faults_;
  episode::Episodes episodes_;
};

}  // namespace

Result<DistilCounts> distil(std::span<const Task> tasks, const DistilOptions& options,
                            generate::Writer& writer, gym::api::Judge& judge,
                            const OnProgress& on_progress) {
  if (tasks.empty()) return fail("there are no tasks to ask about");
  return Session(tasks, options, writer, judge, on_progress).run();
}

}  // namespace tritonsmith::distil
