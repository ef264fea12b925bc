// How many rows a decode step computes, and in how many parts its sums wait or are read side by
// side: what CudaDecoder's buffers are made for, and its memory is counted by. Pure.
#pragma once

#include "model/transformer.h"

namespace tritonsmith::rollout {

// Graphs are made for these numbers of rows; a step takes the next larger one.
std::int64_t bucket_of(std::int64_t rows);

// Parts of a sequence that are read side by side: as few as give every multiprocessor a block,
// since beginning and joining parts costs more than an uneven end (bench/kernel_speed).
int splits_for(std::int64_t rows, std::int64_t kv_heads);

// The most of them that a step of at most so many rows writes, of all heads.
std::int64_t attention_parts(const model::ModelConfig& config, std::int64_t rows);

// Sums in parts that wait to be added to the residual stream.
std::int64_t parts_of_sums(const model::Transformer& model);

}  // namespace tritonsmith::rollout
