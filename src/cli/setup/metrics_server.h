// MetricsServer: answers GET /metrics with this program's counters, for programs that serve nothing
// else. Its thread calls the function that makes the text.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"

namespace tritonsmith::cli {

class MetricsServer {
 public:
  // Listens on HOST:PORT. Fails with one line if that is no address, or is taken.
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address,
                                                      std::function<std::string()> text);
  virtual ~MetricsServer() = default;
};

}  // namespace tritonsmith::cli
