// CudaEngine: the Generator on a GPU, over CudaDecoder. Requests wait in line for a slot and for
// the pages that prompt and completion can need at most, so no sequence is ever put out again. A
// prompt is computed once for all requests that have it: they share its whole pages, and each
// copies the last, partly filled one. Every step decodes all sequences that want a token; the host
// reads a step's tokens while the device is at the next, so a sequence that stops is decoded once
// more for nothing.
//
// The draws of a sample depend on its seed alone. Its logits do too but for the rounding of sums
// whose order depends on the number of rows (cuBLASLt picks its kernel by that), so now and then a
// sample differs between batches.
//
// Weights are read as the Generator's contract says: they may change while the engine is idle, and
// what was computed with the old ones is forgotten then. One thread calls it.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "rollout/cuda_decoder.h"
#include "rollout/engine.h"
#include "rollout/page_pool.h"

namespace tritonsmith::rollout {

class CudaEngine : public Generator {
 public:
  // Allocates at once what it keeps; fails, with the numbers, when that, and what reading prompts
  // and choosing kernels takes besides, does not fit. The model must outlive the engine.
  static Result<std::unique_ptr<CudaEngine>> make(const model::Transformer& model,
                                                  const EngineConfig& config);
  ~CudaEngine() override;

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  Status settle() override;
  void cancel(std::uint64_t id) override;

  const EngineCounts& counts() const { return counts_; }
  std::int64_t cache_tokens() const;
  // What it takes of the GPU at most, whatever is asked of it: as make() said.
  std::int64_t most_bytes() const;

 private:
  struct Slot;
  struct HeldPrompt;
  struct Launch;
  struct Admission;
  CudaEngine(const model::Transformer& model, const EngineConfig& config,
             const CudaDecoder::Limits& limits);
  bool idle() const;
  Status admit();
  bool admit_one(int index, Admission& admission);
  // Where these tokens are or will be held; null when there is no room for them yet.
  HeldPrompt* hold_prompt(const std::vector<TokenId>& tokens);
  bool make_room(int pages);
  HeldPrompt* least_wanted();
  void forget(HeldPrompt& prompt);
  bool occupy(Slot& slot, const HeldPrompt& prompt);
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
  std::vector<HeldPrompt> prompts_;
  std::deque<GenerationRequest> waiting_;
  std::deque<Generated> finished_;
  std::deque<Launch> launches_;
  std::uint64_t clock_ = 0;  // counts admissions, for the prompt unused for longest
  EngineCounts counts_;
};

}  // namespace tritonsmith::rollout
