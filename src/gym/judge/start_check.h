// SelfTest: some of the honest and of the hostile kernels of tests/, carried within the program,
// with which a judge shows that it judges before anybody relies on it: a driver, a library or a
// chip that computes wrongly would else become rewards. The hostile ones are those that only
// running them refuses. Every referee is asked every case, since each may sit on another GPU; of
// those that take their places later only the probes (referee_process.h).
#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "gym/api/judge.h"

namespace tritonsmith::gym::judge {

struct SelfTestCase {
  std::string_view name;  // of the kernel's file
  std::string_view task, kernel;
  bool honest = true;
  bool is_probe = false;  // quickly judged
};
// Made at build time (schedule/CMakeLists.txt).
std::span<const SelfTestCase> self_test_cases();

struct SelfTestScope {
  enum class Cases { all, probes };
  int referees = 1;  // of the judge: LocalJudge::referees()
  Cases cases = Cases::all;
};
// Puts the cases to each referee of the backend that the judge takes by itself; nobody else may use
// it meanwhile. Fails where a case was misjudged, or could not be judged when asked three times,
// and says which; and at once when it is stopped.
Status self_test(api::Judge& judge, const SelfTestScope& scope, const std::stop_token& stop);

// All cases, or only the probes where all passed before with the same mark and `folder` remembers
// it: for commands that start a judge often. A mark names all that judges alike: machine, program,
// Python with torch and triton, GPUs and their driver. Where the folder is empty or cannot be
// written to, nothing is remembered.
Status self_test_once(api::Judge& judge, int referees, const std::filesystem::path& folder,
                      const std::string& mark);

}  // namespace tritonsmith::gym::judge
