// The sizes of a decode step: its number of rows, the parts of its sums, and the parts of a
// sequence that are read side by side. CudaDecoder's buffers and its memory budget follow from
// them. The functions are pure.
#pragma once

#include "model/transformer.h"

namespace tritonsmith::rollout {

// Returns the number of rows of the graph for a step. A step uses the next larger graph.
std::int64_t bucket_of(std::int64_t rows);

// Returns the number of parts of a sequence that are read side by side. It is the smallest number
// that gives every multiprocessor a block. Starting and joining parts costs more than an uneven end
// (bench/kernel_speed).
int splits_for(std::int64_t rows, std::int64_t kv_heads);

// Returns the largest number of parts that a step of at most `rows` rows writes, over all heads.
std::int64_t attention_parts(const model::ModelConfig& config, std::int64_t rows);

// Returns the number of parts of a sum that wait for their addition to the residual stream.
std::int64_t parts_of_sums(const model::Transformer& model);

}  // namespace tritonsmith::rollout
