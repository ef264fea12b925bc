// ReferenceSource: who runs the forward of a task whose plan lacks it. The referee draws weights
// and inputs as ever and asks for what forward makes of them, after the candidate has run;
// comparing stays with the referee. What goes wrong comes back as a Stop: the task's own failure,
// or (infrastructure) that of whoever was asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gym/plan/plan.h"
#include "gym/referee/replay.h"

namespace tritonsmith::gym {

// In which mode of the module forward draws nothing at random.
enum class ReferenceMode { train, eval };

struct ReferenceQuestion {
  const Plan& task;            // without its forward
  const TensorTable& tensors;  // by the plan's index; weights and inputs are read
  ReferenceMode mode = ReferenceMode::train;
  std::uint64_t init_seed = 0;  // of the constructor, for what it keeps beside its weights
  std::uint64_t forward_seed = 0;
  bool with_oracle = true;  // also ask for the same in float64
};

// Tensors lie in the CPU's memory.
struct ReferenceAnswer {
  // Something of the task's that forward changed.
  struct Changed {
    int tensor = 0;  // of the plan
    at::Tensor now, exact;
  };
  Value outputs;  // whose tensors are indices into the next two
  TensorTable tensors;
  TensorTable exact;  // in float64, undefined where that is not known; as many
  std::vector<Changed> changed;
  bool aliases_input = false;  // an output lies in an input's memory
  std::string no_oracle;       // why there is none, though it was asked for
};

class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;
  // Gets ready for a task, whose source the other side has.
  virtual tl::expected<ReferenceMode, Stop> prepare() = 0;
  virtual tl::expected<ReferenceAnswer, Stop> run(const ReferenceQuestion& question) = 0;
};

}  // namespace tritonsmith::gym

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::ReferenceMode> = names<gym::ReferenceMode>(
    {{gym::ReferenceMode::train, "train"}, {gym::ReferenceMode::eval, "eval"}});
}  // namespace tritonsmith
