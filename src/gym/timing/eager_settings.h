// EagerSettings: lets cuDNN compute in TF32 while both sides are timed, as PyTorch does by default.
// Everywhere else the judge compares in full float32.
#pragma once

#include <ATen/Context.h>

namespace tritonsmith::gym::timing {

enum class Setting { full_float32, eager };

// Applies the setting while this object lives. The setting belongs to the whole process.
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
