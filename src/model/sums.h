// How the products and the attention of a forward pass on a GPU sum.
//
// `fast`: every kernel as suits its shape. Trainer and engine then differ by what their roundings
// to 16 bits amount to, since sums in other orders change a last bit here and there, and a rounding
// that falls otherwise is a whole unit of 16 bits (docs/gpu.md has the distribution).
// `equal`: whatever the number of rows, a sum is taken in one order: products by cuBLASLt kernels
// that give the same bits (model/cublas.h), attention by our own kernels (cuda/in_order.cuh). A
// token's log-probability is then the same in trainer and engine but for the last digits of
// log-softmax, in any batch.
#pragma once

#include "base/enum_names.h"

namespace tritonsmith::model {

enum class Sums { fast, equal };

}  // namespace tritonsmith::model

namespace tritonsmith {
template <>
inline constexpr auto enum_names<model::Sums> = names<model::Sums>({{model::Sums::fast, "fast"},
                                                                    {model::Sums::equal, "equal"}});
}  // namespace tritonsmith
