// Chooses the order of sums in the products and the attention of a forward pass on a GPU.
//
// `fast`: every kernel sums as suits its shape. Trainer and engine then sum in different orders, so
// a sum's last bit may differ. After rounding to 16 bits, a value may differ by a whole unit in the
// last place (docs/results/engine.md has the distribution).
//
// `equal`: a sum has one order, whatever the number of rows. Products use cuBLASLt kernels with
// equal bits (model/cublas/cublas.h), attention uses our own kernels (cuda/in_order.cuh). A token's
// log-probability is then the same in trainer and engine in any batch, except for the last digits
// of log-softmax.
#pragma once

#include <cstdint>

#include "base/enum_names.h"

namespace tritonsmith::model {

enum class Sums { fast, equal };

inline constexpr int kMostSumParts = 4;

// The number of parts of a product that is added to the residual stream with equal sums. The parts
// have equal depth, and each is added to the stream in float32 before the next. Their number is a
// function of the weight's shape [outputs, depth] alone. A deep and narrow weight has too few
// columns to keep a GPU busy with few rows, since no sum may be split. Its parts can be computed
// side by side.
constexpr int sum_parts(std::int64_t outputs, std::int64_t depth) {
  // Each of a GPU's 132 multiprocessors should have 64 columns of a part. A part should be deep
  // enough for a kernel of its own in training, and its rows should begin on cache lines.
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
