#include "verifier/review_samples.h"

#include "base/file.h"
#include "base/jsonl.h"
#include "base/log.h"
#include "data/sample.h"

namespace tritonsmith::verifier {

namespace fs = std::filesystem;

Result<SamplesReview> review_samples(const fs::path& file, std::span<const Task> tasks,
                                     Verifier& verifier) {
  std::map<std::string_view, const Task*> by_id;
  for (const Task& task : tasks) by_id[task.id] = &task;
  std::vector<Json> lines;
  std::vector<Verdict> verdicts;
  std::vector<std::size_t> asked;  // indices into both
  std::vector<Subject> subjects;
  TRY(for_each_json_line(file, {}, [&](const JsonLine& line) -> Status {
    TRY_ASSIGN(Sample sample, sample_from_json(line.json));
    lines.push_back(line.json);
    verdicts.push_back(without_opinion(std::move(sample.verdict)));
    const auto task = by_id.find(sample.task_id);
    if (task == by_id.end() || sample.kernel.empty()) return ok();
    if (!is_asked_about(verdicts.back(), verifier.config().kernels)) return ok();
    asked.push_back(lines.size() - 1);
    subjects.push_back({.task = task->second,
                        .kernel = std::move(sample.kernel),
                        .policy = verdicts.back().policy});
    return ok();
  }));
  Progress progress("asking the verifier", subjects.size());
  TRY_ASSIGN(const auto opinions, review_all(verifier, std::move(subjects), [&](std::size_t done) {
               progress.advance_to(done, "");
             }));
  SamplesReview review{.kernels = static_cast<int>(opinions.size())};
  for (std::size_t i = 0; i < opinions.size(); ++i) {
    Verdict& verdict = verdicts[asked[i]];
    count(verdict, opinions[i], review.agreement);
    add_opinion(opinions[i], verdict);
    for (const Finding& finding : opinions[i].findings) ++review.findings[finding.rule];
    lines[asked[i]]["verdict"] = to_json(verdict);
  }
  std::string text;
  for (const Json& line : lines) text += to_line(line) + '\n';
  TRY(write_file_atomic(file, text));
  return review;
}

}  // namespace tritonsmith::verifier
