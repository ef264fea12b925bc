// PyTorch's own settings, under which both sides are timed: TF32 in cuDNN. Elsewhere correctness is
// held against full float32.
#pragma once

#include <ATen/Context.h>

#include "gym/plan/plan.h"

namespace tritonsmith::gym {

enum class Setting { full_float32, eager };

// Holds while it lives; the process has one such setting.
class EagerSettings {
 public:
  explicit EagerSettings(Setting setting) {
    at::globalContext().setAllowTF32CuDNN(setting == Setting::eager);
  }
  ~EagerSettings() { at::globalContext().setAllowTF32CuDNN(false); }
  EagerSettings(const EagerSettings&) = delete;
  EagerSettings& operator=(const EagerSettings&) = delete;
};

// Eager for a task whose own forward uses what the setting changes (convolutions, recurrent cells):
// there a candidate's numbers may be as coarse as PyTorch's own. For others a candidate that calls
// cuDNN is timed in full float32, which it is held to.
Setting timed_setting(const Plan& task);

}  // namespace tritonsmith::gym
