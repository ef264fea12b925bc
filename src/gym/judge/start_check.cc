#include "gym/judge/start_check.h"

#include <set>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/hash.h"

namespace tritonsmith::gym::judge {
namespace {

constexpr int kTimesAsked = 3;

// The machine was too busy, or somebody killed a process. Neither shows whether the judge is right.
bool is_no_answer(const Verdict& verdict) {
  static const std::set<ErrorClass> out_of_time = {ErrorClass::timeout, ErrorClass::compile_timeout,
                                                   ErrorClass::killed,
                                                   ErrorClass::too_large_to_evaluate};
  return verdict.fault == Fault::infrastructure ||
         (verdict.error && out_of_time.contains(verdict.error->error_class));
}

// One case for one referee. Its index among all questions is the job's id.
struct Question {
  const SelfTestCase& one;
  int referee = 0;
  int asked = 0;
};

std::vector<Question> questions_of(const SelfTestScope& scope) {
  std::vector<Question> questions;
  for (const SelfTestCase& one : self_test_cases())
    for (int referee = 0; referee < scope.referees; ++referee)
      if (one.is_probe || scope.cases == SelfTestScope::Cases::all)
        questions.push_back({one, referee});
  return questions;
}

Status ask(api::Judge& judge, std::uint64_t id, Question& question) {
  ++question.asked;
  return judge.submit({.id = id,
                       .task = {.id = "self-test", .source = std::string(question.one.task)},
                       .kernel = std::string(question.one.kernel),
                       .use_store = false,
                       .self_test = api::SelfTestJob{.referee = question.referee,
                                                     .is_right = question.one.honest,
                                                     .is_asked_again = question.one.is_probe}});
}

Status check(const Question& question, const Verdict& verdict) {
  const SelfTestCase& one = question.one;
  const std::string why = verdict.error ? class_name(*verdict.error) + ": " + verdict.error->message
                                        : std::string("no error");
  const std::string what = fmt::format("self-test of referee {}: {}", question.referee, one.name);
  if (is_no_answer(verdict)) return fail("{} could not be judged: {}", what, why);
  if (verdict.accepted != one.honest)
    return fail("{}, which is {}, was {} ({}); nothing is judged by what errs", what,
                one.honest ? "right" : "wrong", verdict.accepted ? "accepted" : "refused", why);
  return ok();
}

}  // namespace

Status self_test(api::Judge& judge, const SelfTestScope& scope, const std::stop_token& stop) {
  std::vector<Question> questions = questions_of(scope);
  for (std::size_t k = 0; k < questions.size(); ++k) TRY(ask(judge, k, questions[k]));
  Status outcome = ok();
  for (std::size_t judged = 0; judged < questions.size();) {
    if (stop.stop_requested()) return fail("self-test: stopped");
    TRY_ASSIGN(const auto one, judge.next(Deadline::after(std::chrono::milliseconds(100))));
    if (!one) continue;
    CHECK(one->id < questions.size(), "a verdict for case {}", one->id);
    Question& question = questions[one->id];
    // A repeated question costs less than a new judge, which would make the machine busier.
    if (is_no_answer(one->verdict) && question.asked < kTimesAsked) {
      TRY(ask(judge, one->id, question));
      continue;
    }
    ++judged;
    if (Status checked = check(question, one->verdict); !checked) outcome = checked;
  }
  return outcome;
}

Status self_test_once(api::Judge& judge, int referees, const std::filesystem::path& folder,
                      const std::string& mark) {
  if (folder.empty()) return self_test(judge, {.referees = referees}, {});
  const std::filesystem::path passed = folder / content_key(mark);
  if (const auto remembered = read_file(passed); remembered && *remembered == mark)
    return self_test(judge, {.referees = referees, .cases = SelfTestScope::Cases::probes}, {});
  TRY(self_test(judge, {.referees = referees}, {}));
  if (make_directories(folder)) static_cast<void>(write_file_atomic(passed, mark));
  return ok();
}

}  // namespace tritonsmith::gym::judge
