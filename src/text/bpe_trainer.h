// Training of byte-pair merges: computes a vocabulary and its merges from counted pieces. The
// function is pure. Its result does not depend on the order of the pieces, and equals that of the
// trainer of `tokenizers`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "text/bpe.h"

namespace tritonsmith::text {

struct BpeTraining {
  std::vector<std::string> reserved;  // tokens with the first ids; they take no part in merging
  int vocabulary_size = 0;
  std::int64_t min_count = 2;
  std::size_t max_token_bytes = 1 << 20;
};

struct TrainedBpe {
  // by id, in the byte alphabet: reserved tokens, the 256 bytes, merges
  std::vector<std::string> tokens;
  std::vector<Bpe::Merge> merges;
};

// Each step merges the most frequent pair, and of equally frequent pairs the one with the smaller
// ids. The time is proportional to the merges made, not to corpus times vocabulary, because every
// pair knows its positions.
TrainedBpe train_bpe(const std::map<std::string, std::int64_t>& counted_pieces,
                     const BpeTraining& training);

}  // namespace tritonsmith::text
