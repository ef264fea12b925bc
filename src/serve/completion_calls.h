// Answers what a trainer in another language asks about completions, so that it needs no copy of our
// rules. It asks for the prompt of a task, the kernel in a completion, a verdict as feedback, and the
// reward of a verdict. The functions are pure, and a request's body is hostile. No call keeps state,
// so each may be repeated. Any thread. docs/service.md has the bodies.
//
//   POST /v1/prompts   {"tasks": [...], "style", "kind", "system"}   -> {"prompts": [[message]]}
//   POST /v1/extract   {"completions": [...]}                        -> {"kernels": [...]}
//   POST /v1/feedback  {"verdicts": [...], "style"}                  -> {"feedback": [...]}
//   POST /v1/rewards   {"answers": [...]}                            -> {"rewards": [...]}
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tritonsmith::serve {

// The most items of one call.
inline constexpr std::size_t kMostItems = 1000;

std::vector<std::string_view> completion_call_paths();
// Returns nothing if completion_call_paths() does not have the path. An error names the member of
// the body that is wrong.
std::optional<Result<Json>> answer_completion_call(std::string_view path, std::string_view body);

}  // namespace tritonsmith::serve
