// Engine: generates with a model's own weights. Requests wait in line for a slot of the KV cache.
// Every step decodes one token in all slots that are in use, and the slot of a finished sequence
// goes to the next request at once. A slot keeps the KV cache of its prompt after the sequence has
// finished. A request with an equal prompt copies it, so a group of samples pays for its prompt
// once.
//
// The engine reads the weights whenever a request arrives while it is idle. They must not change
// while requests are in flight. Between batches the trainer may change them: the engine then
// computes every prompt anew. One thread calls an engine; the kernels use all threads of LibTorch's
// pool.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <set>

#include "generate/engine/decoder.h"
#include "generate/engine/sampler.h"
#include "generate/token_engine.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::generate::engine {

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

class Engine : public TokenEngine {
 public:
  // The model must outlive the engine.
  explicit Engine(const model::Transformer& model, const EngineConfig& config = {});
  ~Engine() override;

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  void interrupt() override { is_interrupted_ = true; }
  std::int64_t max_length() const override { return config_.max_length; }

  const EngineCounts& counts() const { return counts_; }

 private:
  struct Slot;
  bool idle() const;
  Status admit();
  std::vector<int> take_free_slots();
  // The slot whose KV cache holds the prompt; -1: none.
  int slot_with(const std::vector<TokenId>& prompt) const;
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
  std::atomic<bool> is_interrupted_ = false;
  EngineCounts counts_;
};

// The engine that serves a model best: CudaEngine where the model is on a GPU and our own kernels
// serve it, else Engine. The model must outlive it.
Result<std::unique_ptr<TokenEngine>> make_engine(const model::Transformer& model,
                                                 const EngineConfig& config = {});

// Fails for a request that no engine serves: an empty prompt, tokens that the model does not have,
// a prompt and completion that are too long together.
Status check_request(const GenerationRequest& request, std::int64_t vocabulary, int max_length);

}  // namespace tritonsmith::generate::engine
