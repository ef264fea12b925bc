// The sizes of a decode step: how many rows it computes, and into how many parts it splits
// attention and long sums. CudaDecoder sizes its buffers by them. Pure functions.
#pragma once

#include "model/transformer/transformer.h"

namespace tritonsmith::generate::engine {

// Returns the smallest number of rows that has a CUDA graph and is at least `rows`.
std::int64_t bucket_of(std::int64_t rows);

// The number of parts of a sequence that attention reads in parallel. It is the smallest that gives
// every multiprocessor a block: starting and joining parts costs more than an uneven end
// (bench/kernel_speed).
int splits_for(std::int64_t rows, std::int64_t kv_heads);

// The most parts, over all heads, that a step of at most so many rows writes.
std::int64_t attention_parts(const model::ModelConfig& config, std::int64_t rows);

// The number of partial sums that wait to be added to the residual stream.
std::int64_t parts_of_sums(const model::Transformer& model);

}  // namespace tritonsmith::generate::engine
