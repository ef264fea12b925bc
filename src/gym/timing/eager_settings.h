// PyTorch's own settings, under which both sides are timed: TF32 in cuDNN. Elsewhere the judge
// compares with full float32.
#pragma once

#include <ATen/Context.h>

namespace tritonsmith::gym::timing {

enum class Setting { full_float32, eager };

// Applies the setting while it lives. The process has one such setting.
class EagerSettings {
 public:
  explicit EagerSettings(Setting setting) {
    at::globalContext().setAllowTF32CuDNN(setting == Setting::eager);
  }
  ~EagerSettings() { at::globalContext().setAllowTF32CuDNN(false); }
  EagerSettings(const EagerSettings&) = delete;
  EagerSettings& operator=(const EagerSettings&) = delete;
};

}  // namespace tritonsmith::gym::timing
