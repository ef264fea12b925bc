// CudaEngine: the Generator on a GPU, over CudaDecoder. Requests wait for a slot and for the pages
// that prompt and completion can need at most. A running sequence therefore never has to stop for
// lack of pages. A prompt is computed once for all requests with it: they share its full pages, and
// each copies the last, partly filled page. Every step decodes all sequences that want a token. The
// host reads a step's tokens while the device computes the next step, so a finished sequence is
// decoded once more in vain.
//
// The random draws of a sample depend on its seed alone. Its logits vary by rounding, because the
// order of sums depends on the number of rows (cuBLASLt chooses a kernel by it). A sample may
// therefore rarely differ between batches.
//
// The weights may change while the engine is idle, as the Generator's contract says; the engine
// then forgets the results of the old ones. One thread calls it.
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
  // Allocates all its permanent memory at once. Fails, with the numbers, if that memory does not
  // fit together with the needs of reading prompts and choosing kernels. The model must outlive the
  // engine.
  static Result<std::unique_ptr<CudaEngine>> make(const model::Transformer& model,
                                                  const EngineConfig& config);
  ~CudaEngine() override;

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  Status settle() override;
  void cancel(std::uint64_t id) override;

  const EngineCounts& counts() const { return counts_; }
  std::int64_t cache_tokens() const;
  // Returns the upper limit of its GPU memory in bytes, for every workload. make() has reported it.
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
