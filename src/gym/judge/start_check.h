// Tests a judge on some of the honest and hostile kernels of tests/, embedded in the program. So a
// judge shows that it judges correctly before anybody relies on it. Otherwise a driver, a library
// or a chip that computes wrongly would produce rewards. The hostile kernels are those that only
// running them refuses. Every referee gets every case, since each may use another GPU. A referee
// that replaces another one later gets only the probes (referee_process.h).
#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "gym/api/judge.h"

namespace tritonsmith::gym::judge {

struct SelfTestCase {
  std::string_view name;  // the name of the kernel's file
  std::string_view task, kernel;
  bool honest = true;
  bool is_probe = false;  // quickly judged, so a new referee process is asked too
};
// The build generates these (gym/judge/CMakeLists.txt).
std::span<const SelfTestCase> self_test_cases();

struct SelfTestScope {
  enum class Cases { all, probes };
  int referees = 1;  // LocalJudge::referees() of the judge
  Cases cases = Cases::all;
};
// Gives the cases to each referee of the judge's default backend; no one else may use the judge
// meanwhile. Fails with the case's name if a case was misjudged, or could not be judged in three
// attempts. Also fails, at once, when it is stopped.
Status self_test(api::Judge& judge, const SelfTestScope& scope, const std::stop_token& stop);

// Runs all cases. It runs only the probes if all cases passed before with the same mark, as
// remembered in `folder`; this is for commands that start a judge often. A mark names everything on
// which judging depends: machine, program, Python with PyTorch and Triton, GPUs and their driver.
// If `folder` is empty or cannot be written to, nothing is remembered.
Status self_test_once(api::Judge& judge, int referees, const std::filesystem::path& folder,
                      const std::string& mark);

}  // namespace tritonsmith::gym::judge
