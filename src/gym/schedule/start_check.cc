#include "gym/schedule/start_check.h"

#include <set>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/hash.h"

namespace tritonsmith::gym {
namespace {

constexpr int kTimesAsked = 3;

// The machine was too busy, or somebody killed a process: that says nothing of how the judge
// judges.
bool is_no_answer(const Verdict& verdict) {
  static const std::set<std::string_view> out_of_time = {"timeout", "compile_timeout", "killed",
                                                         "too_large_to_evaluate"};
  return verdict.fault == Fault::infrastructure ||
         (verdict.error && out_of_time.contains(verdict.error->error_class));
}

Status ask(Judge& judge, std::size_t number) {
  const SelfTestCase& one = self_test_cases()[number];
  return judge.submit({.id = number,
                       .task = {.id = "self-test", .source = std::string(one.task)},
                       .kernel = std::string(one.kernel),
                       .use_store = false});
}

Status check(const SelfTestCase& one, const Verdict& verdict) {
  const std::string why = verdict.error ? verdict.error->error_class + ": " + verdict.error->message
                                        : std::string("no error");
  if (is_no_answer(verdict)) return fail("self-test: {} could not be judged: {}", one.name, why);
  if (verdict.accepted != one.honest)
    return fail("self-test: {}, which is {}, was {} ({}); nothing is judged by what errs", one.name,
                one.honest ? "right" : "wrong", verdict.accepted ? "accepted" : "refused", why);
  return ok();
}

}  // namespace

Status self_test(Judge& judge, const std::stop_token& stop) {
  const auto cases = self_test_cases();
  std::vector<int> asked(cases.size(), 1);
  for (std::size_t k = 0; k < cases.size(); ++k) TRY(ask(judge, k));
  Status outcome = ok();
  for (std::size_t judged = 0; judged < cases.size();) {
    if (stop.stop_requested()) return fail("self-test: stopped");
    TRY_ASSIGN(const auto one, judge.next(Deadline::after(std::chrono::milliseconds(100))));
    if (!one) continue;
    CHECK(one->id < cases.size(), "a verdict for case {}", one->id);
    // A judge that is started anew for it would only make the machine busier.
    if (is_no_answer(one->verdict) && asked[one->id]++ < kTimesAsked) {
      TRY(ask(judge, one->id));
      continue;
    }
    ++judged;
    if (Status checked = check(cases[one->id], one->verdict); !checked) outcome = checked;
  }
  return outcome;
}

Status self_test_once(Judge& judge, const std::filesystem::path& folder, const std::string& mark) {
  if (folder.empty()) return self_test(judge, {});
  const std::filesystem::path passed = folder / content_key(mark);
  if (const auto remembered = read_file(passed); remembered && *remembered == mark) return ok();
  TRY(self_test(judge, {}));
  if (make_directories(folder)) static_cast<void>(write_file_atomic(passed, mark));
  return ok();
}

}  // namespace tritonsmith::gym
