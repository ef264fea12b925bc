#include "eval/evaluate.h"

#include <map>
#include <optional>

#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "data/sample.h"
#include "eval/metrics.h"
#include "gym/client/fault_streak.h"
#include "gym/client/missing_kernel.h"
#include "text/extract.h"
#include "text/stream_decoder.h"

namespace tritonsmith::eval {
namespace {

constexpr int kGreedy = -1;  // the member number of the greedy completion

// One evaluation in progress. Every completion has a number: task * (samples + 1) + member + 1.
class Session {
 public:
  Session(std::span<const Task> tasks, const EvaluateOptions& options, const Author& author,
          gym::Judge& judge)
      : tasks_(tasks),
        options_(options),
        author_(author),
        judge_(judge),
        verdicts_(tasks.size() * members()),
        faults_(std::min(gym::kFaultsInARow, static_cast<int>(verdicts_.size()))),
        progress_("eval " + options.name, verdicts_.size()) {}

  Result<Evaluation> run() {
    Stopwatch watch;
    TRY(make_directories(options_.directory));
    TRY(read_finished());
    TRY_ASSIGN(auto writer, LineWriter::open(records_file()));
    writer_ = &writer;
    TRY(request_missing());
    TRY(generate());
    while (!waiting_.empty()) TRY(take_verdict(Deadline::never()));
    return finish(watch.seconds());
  }

 private:
  std::size_t members() const { return static_cast<std::size_t>(options_.samples) + 1; }
  std::filesystem::path records_file() const { return options_.directory / "samples.jsonl"; }
  const Task& task_of(std::uint64_t number) const { return tasks_[number / members()]; }
  int member_of(std::uint64_t number) const {
    return static_cast<int>(number % members()) + kGreedy;
  }

  Status read_finished() {
    if (!std::filesystem::exists(records_file())) return ok();
    TRY_ASSIGN(const auto lines, read_lines(records_file()));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto json = parse_json(lines[i]);
      if (!json && i + 1 == lines.size()) break;  // cut short by a kill: judged anew
      if (!json)
        return fail("{}:{}: {}; remove the directory to evaluate anew", records_file().string(),
                    i + 1, json.error().message);
      TRY_ASSIGN(Sample sample, sample_from_json(*json));
      const auto group = static_cast<std::size_t>(sample.group);
      if (group >= tasks_.size() || tasks_[group].id != sample.task_id || sample.member < kGreedy ||
          sample.member >= options_.samples)
        return fail("{}: records of another evaluation; choose another directory",
                    records_file().string());
      if (sample.verdict.fault == Fault::infrastructure) continue;  // judged anew
      record(group * members() + static_cast<std::size_t>(sample.member - kGreedy),
             std::move(sample.verdict));
    }
    return ok();
  }

  Status request_missing() {
    for (std::size_t number = 0; number < verdicts_.size(); ++number) {
      if (verdicts_[number]) continue;
      rollout::GenerationRequest request{
          .id = number, .prompt = author_.prompt(task_of(number)), .sampling = options_.sampling};
      if (member_of(number) == kGreedy) request.sampling.temperature = 0;
      request.seed = Rng(options_.seed, "evaluation", number).next_u64();
      TRY_WITHIN(task_of(number).id, author_.generator.submit(std::move(request)));
    }
    return ok();
  }

  Status generate() {
    for (;;) {
      TRY_ASSIGN(auto generated, author_.generator.next());
      if (!generated) return ok();
      TRY(send_to_judge(generated->id, std::move(generated->completion)));
      while (!waiting_.empty()) {
        TRY_ASSIGN(const bool taken, take_verdict(Deadline::after(Milliseconds(0))));
        if (!taken) break;
      }
    }
  }

  Status send_to_judge(std::uint64_t number, Completion completion) {
    auto decoded = text::decode_with_ends(author_.tokenizer, without_stop(completion));
    const Kernel kernel = text::extract_kernel(decoded.text, decoded.token_ends);
    completion.text = std::move(decoded.text);
    Sample sample{.group = static_cast<int>(number / members()),
                  .member = member_of(number),
                  .task_id = task_of(number).id,
                  .prompt = author_.tokenizer.decode(completion.prompt),
                  .completion = std::move(completion),
                  .kernel = kernel.source};
    if (kernel.source.empty()) {
      sample.verdict = gym::missing_kernel_verdict(task_of(number), kernel, options_.policy);
      return store(number, std::move(sample));
    }
    TRY(judge_.submit({.id = number,
                       .task = task_of(number),
                       .kernel = kernel.source,
                       .policy = options_.policy,
                       .backend = options_.backend,
                       .trials = options_.trials}));
    waiting_.emplace(number, std::move(sample));
    return ok();
  }

  std::span<const TokenId> without_stop(const Completion& completion) const {
    std::span<const TokenId> tokens = completion.tokens;
    return completion.finish == FinishReason::stop && !tokens.empty()
               ? tokens.first(tokens.size() - 1)
               : tokens;
  }

  // False when the deadline passed without a verdict.
  Result<bool> take_verdict(Deadline deadline) {
    TRY_ASSIGN(auto judged, judge_.next(deadline));
    if (!judged) return false;
    auto at = waiting_.find(judged->id);
    if (at == waiting_.end()) return true;  // a verdict of somebody else's job
    at->second.verdict = std::move(judged->verdict);
    TRY(faults_.take(at->second.verdict));
    TRY(store(judged->id, std::move(at->second)));
    waiting_.erase(at);
    return true;
  }

  Status store(std::uint64_t number, Sample sample) {
    TRY(writer_->append(to_line(to_json(sample))));
    record(number, std::move(sample.verdict));
    return ok();
  }

  void record(std::uint64_t number, Verdict verdict) {
    accepted_ += verdict.accepted ? 1 : 0;
    finished_ += verdicts_[number] ? 0 : 1;
    verdicts_[number] = std::move(verdict);
    progress_.advance_to(finished_, fmt::format("accepted {}", accepted_));
  }

  Result<Evaluation> finish(double seconds) {
    std::vector<TaskVerdicts> tasks(tasks_.size());
    for (std::size_t number = 0; number < verdicts_.size(); ++number) {
      CHECK(verdicts_[number].has_value(), "completion {} was never judged", number);
      TaskVerdicts& task = tasks[number / members()];
      if (member_of(number) == kGreedy)
        task.greedy = *verdicts_[number];
      else
        task.sampled.push_back(*verdicts_[number]);
    }
    Evaluation evaluation{.name = options_.name,
                          .suite = options_.suite,
                          .model = options_.model,
                          .policy = std::string(name_of(options_.policy)),
                          .temperature = options_.sampling.temperature,
                          .seconds = seconds};
    summarise(tasks, evaluation);
    evaluation.backend = name_of(verdicts_.empty() ? options_.backend : verdicts_[0]->backend);
    TRY(write_file_atomic(options_.directory / "evaluation.json",
                          to_json(evaluation).dump(2) + "\n"));
    return evaluation;
  }

  std::span<const Task> tasks_;
  const EvaluateOptions& options_;
  const Author& author_;
  gym::Judge& judge_;
  std::vector<std::optional<Verdict>> verdicts_;
  std::map<std::uint64_t, Sample> waiting_;  // at the judge
  gym::FaultStreak faults_;
  LineWriter* writer_ = nullptr;
  std::size_t finished_ = 0;
  int accepted_ = 0;
  Progress progress_;
};

}  // namespace

Result<Evaluation> evaluate(std::span<const Task> tasks, const EvaluateOptions& options,
                            const Author& author, gym::Judge& judge) {
  if (tasks.empty()) return fail("there are no tasks to evaluate on");
  return Session(tasks, options, author, judge).run();
}

}  // namespace tritonsmith::eval
