// Finds out whether the gym can judge a kernel for a module at all, before a model is asked for one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gym/api/judge.h"

namespace tritonsmith::gym::api {

// Judges a candidate that is always wrong, for each task. Returns why a task itself fails:
// "the module itself cannot be judged: ...". Returns nothing if none fails, if the gym does not
// tell within two minutes, or if the caller stopped it. `is_stopped` is asked several times a
// second. No other job of the judge may be in flight.
Result<std::optional<std::string>> why_unjudgeable(Judge& judge, std::span<const Task> tasks,
                                                   Backend backend,
                                                   const std::function<bool()>& is_stopped);

// The words for a task that fails with this message of a verdict.
std::string words_for_failed_task(std::string_view message);

}  // namespace tritonsmith::gym::api
