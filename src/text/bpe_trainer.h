// The training of byte-pair merges: from counted pieces to a vocabulary and its merges. A pure
// function; the same pieces in any order give the same result, and the same as the trainer of
// `tokenizers`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "text/bpe.h"

namespace tritonsmith::text {

struct BpeTraining {
  std::vector<std::string> reserved;  // tokens that get the first ids and take no part in merging
  int vocabulary_size = 0;
  std::int64_t min_count = 2;
  std::size_t max_token_bytes = 1 << 20;
};

struct TrainedBpe {
  std::vector<std::string> tokens;  // by id, in the byte alphabet: reserved, the 256 bytes, merges
  std::vector<Bpe::Merge> merges;
};

// Each step merges the pair that is seen most often, among equals the one with the smaller ids.
// Takes time proportional to the merges made, not to corpus times vocabulary: every pair knows
// where it stands.
TrainedBpe train_bpe(const std::map<std::string, std::int64_t>& counted_pieces,
                     const BpeTraining& training);

}  // namespace tritonsmith::text
