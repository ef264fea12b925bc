// Decoder: the model with a KV cache in slots. A slot holds the keys and values of one sequence;
// the engine decides which sequence has which slot. CpuDecoder runs the trainer's own kernels: a
// token's logits have the same bits as in a full forward pass, whatever else is in the batch.
// AtenDecoder runs on any device. One thread uses a decoder.
#pragma once

#include <memory>
#include <span>

#include "model/transformer/transformer.h"

namespace tritonsmith::generate::engine {

class Decoder {
 public:
  struct Prompt {
    int slot = 0;
    std::span<const TokenId> tokens;
  };
  struct Step {
    int slot = 0;
    TokenId token = 0;
    std::int64_t position = 0;  // position of the token; the slot holds the tokens before it
  };

  virtual ~Decoder() = default;
  // Reads the weights. The engine calls it before the first use and after each change of the
  // weights.
  virtual void refresh() = 0;
  // Allocates an empty slot's cache for a sequence of up to `length` tokens.
  virtual void reserve(int slot, std::int64_t length) = 0;
  // Fills the slots and writes the logits after each prompt's last token: [prompts, V].
  virtual void prefill(std::span<const Prompt> prompts, float* logits) = 0;
  // Copies the first `length` tokens of one slot's cache to another.
  virtual void copy(int from, int to, std::int64_t length) = 0;
  // Appends one token to each slot and writes the logits after it: [steps, V].
  virtual void decode(std::span<const Step> steps, float* logits) = 0;
};

// The decoder that serves a model best. The model must outlive it.
std::unique_ptr<Decoder> make_decoder(const model::Transformer& model, int slots);

}  // namespace tritonsmith::generate::engine
