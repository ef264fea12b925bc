#include "cli/setup/teacher_examples.h"

#include <algorithm>

#include "base/log.h"
#include "text/feedback.h"

namespace tritonsmith::cli {
namespace {

using curriculum::Example;

// Judges the examples' first answers and keeps the verdicts by the example's number.
class FirstAnswers {
 public:
  FirstAnswers(std::span<const Example> examples, const TeacherExampleOptions& options)
      : examples_(examples), options_(options), verdicts_(examples.size()) {}

  Result<std::vector<Verdict>> judge() {
    const auto wanted = static_cast<std::size_t>(std::ranges::count_if(
        examples_, [](const Example& each) { return each.first.has_value(); }));
    if (wanted == 0) return std::move(verdicts_);
    TRY_ASSIGN(gym::api::Judge* const judge, options_.judge());
    Progress progress("judging first answers", wanted);
    for (std::size_t id = 0; id < examples_.size(); ++id) {
      if (!examples_[id].first) continue;
      TRY(judge->submit({.id = id,
                         .task = examples_[id].task,
                         .kernel = examples_[id].first->code,
                         .policy = options_.policy,
                         .backend = options_.backend,
                         .trials = options_.trials}));
      ++pending_;
      TRY(take_all(*judge, Deadline::after(Milliseconds(0)), progress));
    }
    TRY(take_all(*judge, Deadline::never(), progress));
    if (pending_ > 0)
      return fail_by_fault("the gym returned no verdict on {} first answers", pending_);
    return std::move(verdicts_);
  }

 private:
  Status take_all(gym::api::Judge& judge, Deadline deadline, Progress& progress) {
    while (pending_ > 0) {
      TRY_ASSIGN(auto judged, judge.next(deadline));
      if (!judged) return ok();
      if (judged->verdict.fault == Fault::infrastructure)
        return fail_by_fault(
            "the gym failed on a first answer to {}: {}", judged->verdict.task_id,
            judged->verdict.error ? judged->verdict.error->message : "no reason given");
      verdicts_.at(judged->id) = std::move(judged->verdict);
      --pending_;
      progress.advance_to(++done_);
    }
    return ok();
  }

  std::span<const Example> examples_;
  const TeacherExampleOptions& options_;
  std::vector<Verdict> verdicts_;
  std::size_t pending_ = 0, done_ = 0;
};

}  // namespace

Result<TeacherExamples> teacher_examples(std::span<const curriculum::GeneratedTask> generated_tasks,
                                         const TeacherExampleOptions& options) {
  TRY(curriculum::check(options.teacher));
  std::vector<Example> examples = curriculum::teach(generated_tasks, options.teacher);
  TRY_ASSIGN(const std::vector<Verdict> verdicts, FirstAnswers(examples, options).judge());
  TeacherExamples made;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    Example& each = examples[i];
    ++made.counts[each.first ? "repair" : std::string(name_of(each.answer.intent))];
    train::SftExample example{.task_id = each.task.id,
                              .prompt = text::prompt_for(each.task, options.prompt),
                              .completion = std::move(each.answer.completion),
                              .asked = text::PromptRecord{.prompt = options.prompt}};
    if (each.first) {
      example.prompt.push_back(
          {.role = text::Role::assistant, .content = std::move(each.first->completion)});
      example.prompt.push_back({.role = text::Role::user,
                                .content = text::feedback_text(verdicts[i], options.prompt.style)});
    }
    made.examples.push_back(std::move(example));
  }
  return made;
}

std::string reference_lines(std::span<const curriculum::GeneratedTask> generated_tasks,
                            curriculum::TeacherOptions options) {
  options.per_task = 1;
  options.mistakes = options.lazy = options.decoys = options.repairs = 0;
  std::string lines;
  for (const Example& each : curriculum::teach(generated_tasks, options))
    lines += to_line({{"task", each.task.id}, {"kernel", each.answer.code}}) + '\n';
  return lines;
}

}  // namespace tritonsmith::cli
