// Operation: a running joint operation of all ranks, in Gloo's threads or on the GPU. It keeps its
// tensors alive until it is complete.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"

namespace tritonsmith::distributed {

enum class Reduction { sum, largest };

class Operation {
 public:
  virtual ~Operation() = default;
  virtual bool is_done() = 0;
  // After completion: the error message, or nothing after success.
  virtual std::optional<std::string> error() = 0;
  // Calls `call` at completion from any thread, or at once if the operation is complete. Returns
  // false if it cannot; the caller must then poll.
  virtual bool call_when_done(std::function<void()> call) = 0;
};

using OperationPtr = std::unique_ptr<Operation>;

}  // namespace tritonsmith::distributed
