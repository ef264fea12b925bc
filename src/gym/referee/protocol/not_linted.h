// The note that a task's own check ended early. The referee makes it of what the task does, the judge of
// a referee that fails. Pure.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "data/finding.h"

namespace tritonsmith::gym::referee {

// `why` is a clause: "its outputs are not finite".
inline Finding not_linted(std::string_view why) {
  return {.rule = "task_not_linted",
          .severity = Severity::note,
          .message = fmt::format("the task was not checked: {}", why)};
}

}  // namespace tritonsmith::gym::referee
