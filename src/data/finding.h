// Finding: one thing that static inspection or the launch plan shows about a candidate, with the
// rule's name.
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
  std::string rule;  // stable, lower_snake_case: "no_triton_kernel"
  Severity severity = Severity::note;
  int line = 0;  // of the candidate's source, from 1; 0 where no single line is to blame
  std::string message;
  bool operator==(const Finding&) const = default;
};

Json to_json(const Finding& finding);
Result<Finding> finding_from_json(const Json& json);

}  // namespace tritonsmith
