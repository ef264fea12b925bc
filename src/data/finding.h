// Finding: one observation about a candidate, with the name of the rule that made it. Static
// inspection and the launch plan give findings.
#pragma once

#include <string>

#include "base/json.h"

namespace tritonsmith {

// reject: the verdict cannot be accepted. warn and note only inform.
enum class Severity { note, warn, reject };
template <>
inline constexpr auto enum_names<Severity> = names<Severity>({{Severity::note, "note"},
                                                              {Severity::warn, "warn"},
                                                              {Severity::reject, "reject"}});

struct Finding {
  std::string rule;  // stable name in lower_snake_case: "no_triton_kernel"
  Severity severity = Severity::note;
  int line = 0;  // in the candidate's source, from 1; 0 if no single line is to blame
  std::string message;
  bool operator==(const Finding&) const = default;
};

Json to_json(const Finding& finding);
Result<Finding> finding_from_json(const Json& json);

}  // namespace tritonsmith
