// ReferenceSource: runs the forward of a task whose plan lacks it. The referee draws weights and
// inputs as for any task. After the candidate has run, it asks the source for the outputs of
// forward, and compares them. A failure comes back as a Stop: of the task, or of the infrastructure
// if the source itself failed.
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
  std::uint64_t init_seed = 0;  // seeds the constructor, for what it keeps beside its weights
  std::uint64_t forward_seed = 0;
  bool with_oracle = true;  // the source also runs forward in float64
};

// All tensors lie in the CPU's memory.
struct ReferenceAnswer {
  // A tensor of the task's plan that forward changed.
  struct Changed {
    int tensor = 0;  // its index in the task's plan
    at::Tensor now, exact;
  };
  plan::Value outputs;  // its tensors are indices into the next two
  tensors::TensorTable tensors;
  tensors::TensorTable exact;  // in float64, one for each of `tensors`; undefined where not known
  std::vector<Changed> changed;
  bool aliases_input = false;  // an output lies in an input's memory
  std::string no_oracle;       // why there is no float64 result, though the question asked for it
};

class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;
  // Prepares for the job's task and returns the mode in which the task runs. The implementation
  // already has the task's source.
  virtual tl::expected<ReferenceMode, replay::Stop> prepare() = 0;
  virtual tl::expected<ReferenceAnswer, replay::Stop> run(const ReferenceQuestion& question) = 0;
};

}  // namespace tritonsmith::gym::trial

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::trial::ReferenceMode> = names<gym::trial::ReferenceMode>(
    {{gym::trial::ReferenceMode::train, "train"}, {gym::trial::ReferenceMode::eval, "eval"}});
}  // namespace tritonsmith
