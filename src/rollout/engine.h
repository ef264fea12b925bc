// Engine: the Generator over a model's own weights. Requests wait in line for a slot of the KV
// cache; every step all slots in use decode one token together, and a finished sequence's slot goes
// to the next in line at once. A prompt that some slot still holds is not computed again but
// copied, so a group of samples of one prompt pays for it once.
//
// The weights are read whenever a request arrives at an idle engine. They must not change while
// requests are in flight; between batches the trainer may change them at will, and nothing computed
// with the old ones is used again. One thread calls it; the kernels use all threads of LibTorch's
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
  int max_length = 0;         // prompt and completion; 0: the model's own limit
  int prefill_tokens = 8192;  // of prompts computed at once
  int cache_mib = 0;  // of KV cache on a GPU; 0: what the slots need, up to half of the free

  static Fields<EngineConfig> fields();
};

// What an engine has done since it was made.
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

// The engine that serves a model best: CudaEngine where the model is on a GPU and our own kernels
// serve it, else Engine. The model must outlive it.
Result<std::unique_ptr<Generator>> make_generator(const model::Transformer& model,
                                                  const EngineConfig& config = {});

// What no engine serves, named: tokens that the model does not have, an empty prompt, too great a
// length.
Status check_request(const GenerationRequest& request, std::int64_t vocabulary, int max_length);

// Submits all, and gives their completions in the order of the requests. Nothing else may be in
// flight.
Result<std::vector<Completion>> generate_all(Generator& generator,
                                             std::span<const GenerationRequest> requests);

}  // namespace tritonsmith::rollout
