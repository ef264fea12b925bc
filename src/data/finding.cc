#include "data/finding.h"

namespace tritonsmith {

Json to_json(const Finding& finding) {
  return {{"rule", finding.rule},
          {"severity", name_of(finding.severity)},
          {"line", finding.line},
          {"message", finding.message}};
}

Result<Finding> finding_from_json(const Json& json) {
  JsonReader reader(json);
  Finding finding{.rule = reader.string("rule"),
                  .severity = reader.enumerated<Severity>("severity"),
                  .line = static_cast<int>(reader.integer("line", 0)),
                  .message = reader.string("message", "")};
  TRY(reader.status());
  return finding;
}

}  // namespace tritonsmith
