// Operation: something all ranks do together and that is under way, in Gloo's threads or on the
// GPU. It holds on to its tensors until it is done.
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
  // Once done: what went wrong; nothing: it went well.
  virtual std::optional<std::string> error() = 0;
  // `call` is called when it is done, from any thread, or now. False: look again by yourself.
  virtual bool call_when_done(std::function<void()> call) = 0;
};

using OperationPtr = std::unique_ptr<Operation>;

}  // namespace tritonsmith::distributed
