// Judges the teacher's answers of every intent, and fails if one does not match its intent. Honest
// answers are accepted under `strict`, lazy ones under `open` alone. Decoys are correct and
// accepted nowhere, mistakes are wrong, and slips do not compile. The first of two answers is one
// of these, and the second is honest.
//
//   judge_teaching REFEREE TASKS
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "curriculum/teacher/teacher.h"
#include "gym/api/judge_all.h"
#include "gym/judge/local_judge.h"
#include "inspect/inspect.h"

namespace tritonsmith {
namespace {

using curriculum::Answer;
using curriculum::Example;
using curriculum::Intent;

struct Candidate {
  Task task;
  Answer answer;
};

// Returns one answer of every possible intent for each task, and both answers of a repair.
std::vector<Candidate> candidates(int tasks) {
  auto options = curriculum::quickstart_options(5);
  options.train = tasks;
  options.heldout = 0;
  options.min_operators = 2;  // a single operator leaves no work to share with torch
  const auto made = curriculum::generate_tasks(options);
  const curriculum::TeacherOptions honest{
      .styles = {"compact", "pair"}, .per_task = 2, .thinking = curriculum::ThinkingKind::fusion};
  std::vector<curriculum::TeacherOptions> kinds(5, honest);
  kinds[1].mistakes = kinds[2].lazy = kinds[3].decoys = kinds[4].repairs = 1;
  std::vector<Candidate> found;
  for (const auto& kind : kinds)
    for (const Example& example : curriculum::teach(made, kind)) {
      found.push_back({example.task, example.answer});
      if (example.first) found.push_back({example.task, *example.first});
    }
  return found;
}

// Returns the verdicts under one policy, in the order of the candidates.
Result<std::vector<Verdict>> judge_by(gym::api::Judge& judge, const std::vector<Candidate>& all,
                                      Policy policy) {
  std::vector<gym::api::JudgeJob> jobs;
  for (const Candidate& each : all)
    jobs.push_back({.task = each.task,
                    .kernel = each.answer.code,
                    .policy = policy,
                    .backend = Backend::evaluate,
                    .use_store = false});
  return gym::api::judge_all(judge, std::move(jobs));
}

bool is_as_intended(Intent intent, const Verdict& strict, const Verdict& open) {
  switch (intent) {
    case Intent::honest:
      return strict.accepted && open.accepted;
    case Intent::lazy:
      return !strict.accepted && open.accepted;
    case Intent::decoy:
      return !strict.accepted && open.correct && !open.accepted && has_rejecting_finding(open);
    case Intent::mistake:
      return strict.compiled && !strict.correct && !open.correct;
    case Intent::slip:
      return !strict.compiled && !open.compiled;
  }
  return false;
}

std::string said(const Verdict& verdict) {
  std::string text = fmt::format("{} {}", name_of(verdict.stage),
                                 verdict.accepted  ? "accepted"
                                 : verdict.correct ? "correct"
                                                   : "");
  if (verdict.error) text += " " + class_name(*verdict.error) + ": " + verdict.error->message;
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::reject) text += " " + finding.rule;
  return text;
}

Result<int> run(const std::string& referee, int tasks) {
  gym::judge::LocalJudgeConfig config;
  config.capture.slots = 2;
  config.queue = 4096;
  TRY_ASSIGN(const auto judge,
             gym::judge::LocalJudge::start(config, inspect::inspect_kernel, {.argv = {referee}}));
  const auto all = candidates(tasks);
  TRY_ASSIGN(const auto strict, judge_by(*judge, all, Policy::strict));
  TRY_ASSIGN(const auto open, judge_by(*judge, all, Policy::open));
  std::map<Intent, int> counts;
  int failures = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Intent intent = all[i].answer.intent;
    ++counts[intent];
    if (is_as_intended(intent, strict[i], open[i])) continue;
    ++failures;
    fmt::print("{}: not {}: strict: {}; open: {}\n{}\n", all[i].task.id, name_of(intent),
               said(strict[i]), said(open[i]), all[i].answer.code);
  }
  for (const auto& [intent, count] : counts) fmt::print("{} {}\n", count, name_of(intent));
  fmt::print("{} answers, {} are not what they should be\n", all.size(), failures);
  return failures == 0 && counts.size() == 5 ? 0 : 1;
}

}  // namespace
}  // namespace tritonsmith

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: judge_teaching REFEREE TASKS\n");
    return 2;
  }
  const auto code = tritonsmith::run(argv[1], std::atoi(argv[2]));
  if (code) return *code;
  fmt::print(stderr, "judge_teaching: {}\n", code.error().message);
  return 2;
}
