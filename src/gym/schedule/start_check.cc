#include "gym/schedule/start_check.h"

#include "base/check.h"

namespace tritonsmith::gym {
namespace {

Status check(const SelfTestCase& one, const Verdict& verdict) {
  const std::string why = verdict.error ? verdict.error->error_class + ": " + verdict.error->message
                                        : std::string("no error");
  if (verdict.fault == Fault::infrastructure)
    return fail("self-test: {} could not be judged: {}", one.name, why);
  if (verdict.accepted != one.honest)
    return fail("self-test: {}, which is {}, was {} ({}); nothing is judged by what errs", one.name,
                one.honest ? "right" : "wrong", verdict.accepted ? "accepted" : "refused", why);
  return ok();
}

}  // namespace

Status self_test(Judge& judge, const std::stop_token& stop) {
  const auto cases = self_test_cases();
  for (std::size_t k = 0; k < cases.size(); ++k)
    TRY(judge.submit({.id = k,
                      .task = {.id = "self-test", .source = std::string(cases[k].task)},
                      .kernel = std::string(cases[k].kernel),
                      .use_store = false}));
  Status outcome = ok();
  for (std::size_t judged = 0; judged < cases.size();) {
    if (stop.stop_requested()) return fail("self-test: stopped");
    TRY_ASSIGN(const auto one, judge.next(Deadline::after(std::chrono::milliseconds(100))));
    if (!one) continue;
    ++judged;
    CHECK(one->id < cases.size(), "a verdict for case {}", one->id);
    if (Status checked = check(cases[one->id], one->verdict); !checked) outcome = checked;
  }
  return outcome;
}

}  // namespace tritonsmith::gym
