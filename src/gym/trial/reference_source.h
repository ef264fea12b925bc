// ReferenceSource: runs the forward of a task whose plan lacks it. The referee draws weights and
// inputs as for any task. After the candidate has run, it asks the source what forward makes of
// them. The referee compares. A failure comes back as a Stop: the task's own, or one of the
// infrastructure where the source failed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gym/plan/plan.h"
#include "gym/replay/replay.h"

namespace tritonsmith::gym::trial {

// The module's mode in which forward draws nothing at random.
enum class ReferenceMode { train, eval };

struct ReferenceQuestion {
  const plan::Plan& task;               // without its forward
  const tensors::TensorTable& tensors;  // by the plan's index; weights and inputs are read
  ReferenceMode mode = ReferenceMode::train;
  std::uint64_t init_seed = 0;  // of the constructor, for what it keeps beside its weights
  std::uint64_t forward_seed = 0;
  bool with_oracle = true;  // also ask for the same in float64
};

// All tensors lie in the CPU's memory.
struct ReferenceAnswer {
  // A tensor of the task's plan that forward changed.
  struct Changed {
    int tensor = 0;  // of the plan
    at::Tensor now, exact;
  };
  plan::Value outputs;  // its tensors are indices into the next two
  tensors::TensorTable tensors;
  tensors::TensorTable exact;  // in float64, undefined where that is not known; as many
  std::vector<Changed> changed;
  bool aliases_input = false;  // an output lies in an input's memory
  std::string no_oracle;       // why there is none, though it was asked for
};

class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;
  // Gets ready for the job's task. The other side has its source.
  virtual tl::expected<ReferenceMode, replay::Stop> prepare() = 0;
  virtual tl::expected<ReferenceAnswer, replay::Stop> run(const ReferenceQuestion& question) = 0;
};

}  // namespace tritonsmith::gym::trial

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::trial::ReferenceMode> = names<gym::trial::ReferenceMode>(
    {{gym::trial::ReferenceMode::train, "train"}, {gym::trial::ReferenceMode::eval, "eval"}});
}  // namespace tritonsmith
