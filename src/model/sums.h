// How the products and the attention of a forward pass on a GPU sum.
//
// `fast`: every kernel as suits its shape. Trainer and engine then differ by what their roundings
// to 16 bits amount to, since sums in other orders change a last bit here and there, and a rounding
// that falls otherwise is a whole unit of 16 bits (docs/results/engine.md has the distribution).
// `equal`: whatever the number of rows, a sum is taken in one order: products by cuBLASLt kernels
// that give the same bits (model/cublas.h), attention by our own kernels (cuda/in_order.cuh). A
// token's log-probability is then the same in trainer and engine but for the last digits of
// log-softmax, in any batch.
#pragma once

#include <cstdint>

#include "base/enum_names.h"

namespace tritonsmith::model {

enum class Sums { fast, equal };

inline constexpr int kMostSumParts = 4;

// With equal sums, a product that is added to the residual stream is summed in so many parts of
// equal depth, each added to the stream in float32 before the next: a function of the weight's
// shape [outputs, depth] alone. A deep and narrow weight has too few columns to keep a GPU busy
// with few rows, where nothing may split a sum; its parts can be computed side by side.
constexpr int sum_parts(std::int64_t outputs, std::int64_t depth) {
  // Of a GPU's 132 multiprocessors each shall have 64 columns of a part; a part shall be deep
  // enough to be worth a kernel of its own to the trainer, and its rows begin in whole cache lines.
  constexpr std::int64_t kBlocks = 128, kColumns = 64, kShallowest = 2048, kLine = 64;
  int parts = kMostSumParts;
  while (parts > 1 && ((outputs + kColumns - 1) / kColumns * parts > kBlocks ||
                       depth < kShallowest * parts || depth % (kLine * parts) != 0))
    parts /= 2;
  return parts;
}

}  // namespace tritonsmith::model

namespace tritonsmith {
template <>
inline constexpr auto enum_names<model::Sums> = names<model::Sums>({{model::Sums::fast, "fast"},
                                                                    {model::Sums::equal, "equal"}});
}  // namespace tritonsmith
