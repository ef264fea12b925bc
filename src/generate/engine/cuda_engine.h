// CudaEngine: the engine on a GPU, over CudaDecoder. A request waits for a slot and for all pages
// that its prompt and completion can need, so a sequence is never preempted. The engine computes a
// prompt once for all requests that have it. They share the whole pages of its KV cache, and each
// copies the last page, which is partly filled. Every step decodes all sequences that need a token.
// The host reads a step's tokens while the device computes the next step, so a sequence that stops
// is decoded once more in vain.
//
// The random draws depend on the request's seed alone. The logits also depend on the rounding of
// sums
// whose order follows the number of rows (cuBLASLt chooses its kernel by that), so a sample now and
// then differs between batches.
//
// The weights may change while the engine is idle, as engine.h says: the engine then drops its
// prefix cache. One thread calls it.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <unordered_map>

#include "generate/engine/cuda_decoder.h"
#include "generate/engine/engine.h"
#include "generate/engine/page_pool.h"

namespace tritonsmith::generate::engine {

class CudaEngine : public TokenEngine {
 public:
  // Allocates the memory that it keeps. Fails, with the numbers, when that memory and what prefill
  // and the choice of kernels take besides do not fit. The model must outlive the engine.
  static Result<std::unique_ptr<CudaEngine>> make(const model::Transformer& model,
                                                  const EngineConfig& config);
  ~CudaEngine() override;

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  Status settle() override;
  void cancel(std::uint64_t id) override;
  void interrupt() override { is_interrupted_ = true; }
  std::int64_t max_length() const override { return config_.max_length; }

  const EngineCounts& counts() const { return counts_; }
  // The most GPU memory that it uses, whatever is asked of it: make() has checked for it.
  std::int64_t most_bytes() const;

 private:
  struct Slot;
  struct CachedPrompt;
  struct Launch;
  struct Admission;
  CudaEngine(const model::Transformer& model, const EngineConfig& config,
             const CudaDecoder::Limits& limits);
  bool idle() const;
  Status admit();
  bool admit_one(int index, Admission& admission);
  // The prefix cache's entry for these tokens, made if there is none; null when there is no room
  // for it yet.
  CachedPrompt* cache_prompt(const std::vector<TokenId>& tokens);
  bool make_room(int pages);
  CachedPrompt* eviction_candidate();
  void evict(CachedPrompt& prompt);
  bool occupy(Slot& slot, const CachedPrompt& prompt);
  Status launch_step();
  Status read_draws();
  Status drain();
  void append(int slot, TokenId token, float logprob);
  void finish(int slot, FinishReason reason);
  void vacate(Slot& slot);

  EngineConfig config_;
  std::int64_t vocabulary_, most_bytes_;
  CudaDecoder decoder_;
  PagePool pool_;
  std::vector<Slot> slots_;
  std::vector<CachedPrompt> prompts_;
  std::deque<GenerationRequest> waiting_;
  std::deque<Generated> finished_;
  std::deque<Launch> launches_;
  std::uint64_t clock_ = 0;  // counts admissions: the prefix cache evicts the least recently used
  std::atomic<bool> is_interrupted_ = false;
  EngineCounts counts_;
};

}  // namespace tritonsmith::generate::engine
