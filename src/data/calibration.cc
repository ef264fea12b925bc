#include "data/calibration.h"

#include <cmath>

namespace tritonsmith {

Json to_json(const Calibration& calibration) {
  return {{"version", calibration.version},
          {"compute_ms", calibration.compute_ms},
          {"memory_ms", calibration.memory_ms}};
}

Result<Calibration> calibration_from_json(const Json& json) {
  JsonReader reader(json);
  Calibration calibration{.version = static_cast<int>(reader.integer("version")),
                          .compute_ms = reader.number("compute_ms"),
                          .memory_ms = reader.number("memory_ms")};
  TRY(reader.status());
  if (!(calibration.compute_ms > 0) || !(calibration.memory_ms > 0))
    return fail("a calibration without times");
  return calibration;
}

double drift_between(const Calibration& first, const Calibration& now) {
  const double compute = now.compute_ms / first.compute_ms - 1;
  const double memory = now.memory_ms / first.memory_ms - 1;
  return std::abs(compute) >= std::abs(memory) ? compute : memory;
}

}  // namespace tritonsmith
