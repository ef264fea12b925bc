#include "gym/referee/enough_memory.h"

#include <algorithm>
#include <array>

namespace tritonsmith::gym::referee {

bool tells_of_memory(const RefereeReport& report) {
  // The words of LibTorch, here and in the Python reference, of the driver, and of cuBLAS.
  constexpr std::array<std::string_view, 3> texts = {"out of memory", "OUT_OF_MEMORY",
                                                     "ALLOC_FAILED"};
  const auto tells = [&](const std::string& message) {
    return std::ranges::any_of(
        texts, [&](std::string_view text) { return message.find(text) != std::string::npos; });
  };
  if (report.error && (report.error->error_class == ErrorClass::too_large_to_evaluate ||
                       tells(report.error->message)))
    return true;
  return std::ranges::any_of(report.findings,
                             [&](const Finding& finding) { return tells(finding.message); });
}

RefereeReport judge_with_enough_memory(device::SharedMemory& memory,
                                       const std::function<RefereeReport()>& judge,
                                       const std::function<bool()>& is_spent) {
  RefereeReport report = judge();
  if (memory.has_all() || is_spent() || !(memory.was_refused() || tells_of_memory(report)))
    return report;
  memory.take_all();
  return judge();
}

}  // namespace tritonsmith::gym::referee
