// Engine: the Generator over a model's own weights. Requests wait for a slot of the KV cache. Every
// step decodes one token for all slots in use, and the slot of a finished sequence goes to the next
// request at once. A prompt that a slot still holds is copied and not computed again. A group of
// samples of one prompt thus computes it once.
//
// A request that arrives at an idle engine makes it read the weights again. The weights must not
// change while requests are in flight. Between batches the trainer may change them; the engine uses
// no result of the old ones. One thread calls it, and the kernels use all threads of LibTorch's
// pool.
#pragma once

#include <deque>
#include <memory>
#include <set>

#include "model/transformer.h"
#include "rollout/decoder.h"
#include "rollout/generator.h"
#include "rollout/sampler.h"

namespace tritonsmith::rollout {

struct EngineConfig {
  int slots = 64;             // sequences decoded together
  int max_length = 0;         // tokens of prompt and completion; 0: the model's limit
  int prefill_tokens = 8192;  // prompt tokens that are computed at once
  // MiB of KV cache on a GPU; 0: the need of the slots, at most half of the free memory
  int cache_mib = 0;

  static Fields<EngineConfig> fields();
};

// Counts since the engine was made.
struct EngineCounts {
  std::uint64_t prompts_computed = 0;
  std::uint64_t prompts_shared = 0;
  std::uint64_t tokens_decoded = 0;
};

class Engine : public Generator {
 public:
  // The model must outlive the engine.
  explicit Engine(const model::Transformer& model, const EngineConfig& config = {});
  ~Engine() override;

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override;

  const EngineCounts& counts() const { return counts_; }

 private:
  struct Slot;
  bool idle() const;
  Status admit();
  std::vector<int> take_free_slots();
  int holder_of(const std::vector<TokenId>& prompt) const;
  void prefill(const std::vector<int>& slots);
  Status step();
  Status take_tokens(const std::vector<int>& slots, const std::vector<const float*>& logits);
  void append(int slot, const SampledToken& sampled);
  void finish(int slot, FinishReason reason);

  EngineConfig config_;
  std::int64_t vocabulary_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<Slot> slots_;
  std::deque<GenerationRequest> waiting_;
  std::deque<Generated> finished_;
  std::vector<float> logits_;  // [slots, V]
  EngineCounts counts_;
};

// Makes the best engine for a model: CudaEngine if the model is on a GPU that our own kernels
// support, else Engine. The model must outlive it.
Result<std::unique_ptr<Generator>> make_generator(const model::Transformer& model,
                                                  const EngineConfig& config = {});

// Refuses requests that no engine can run: tokens outside the vocabulary, an empty prompt, too
// great a length. The error names the reason.
Status check_request(const GenerationRequest& request, std::int64_t vocabulary, int max_length);

// Submits all requests and returns their completions in the same order. No other request may be in
// flight.
Result<std::vector<Completion>> generate_all(Generator& generator,
                                             std::span<const GenerationRequest> requests);

}  // namespace tritonsmith::rollout
