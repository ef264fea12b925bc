#include "model/cpu/kernels.h"

namespace tritonsmith::model::cpu {

#define TRITONSMITH_DECLARE_KERNELS(level)          \
  namespace level {                                 \
  const Kernels<float>& kernels_of(const float*);   \
  const Kernels<double>& kernels_of(const double*); \
  }
TRITONSMITH_DECLARE_KERNELS(baseline)
TRITONSMITH_DECLARE_KERNELS(avx2)
TRITONSMITH_DECLARE_KERNELS(avx512)
#undef TRITONSMITH_DECLARE_KERNELS

template <typename T>
const Kernels<T>& kernels() {
  constexpr const T* kType = nullptr;
  static const Kernels<T>& best = __builtin_cpu_supports("x86-64-v4") ? avx512::kernels_of(kType)
                                  : __builtin_cpu_supports("x86-64-v3")
                                      ? avx2::kernels_of(kType)
                                      : baseline::kernels_of(kType);
  return best;
}

template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}  // namespace tritonsmith::model::cpu
