// CudaDecoder: the device side of rollouts on a GPU. It holds the paged cache and the state of the
// slots. It reads prompts, and decodes one token for any set of slots as one CUDA graph, sampling
// included. The sampled token stays on the device for the next step. read_oldest() reads the
// results later, in the order of the launches, so that the device never waits for the host.
// CudaEngine decides the slot and the pages of each sequence.
//
// The weights are the trainer's own 16-bit copy (model/half_weights.h), read in place. One thread
// calls it. All its work runs on a stream of its own, and refresh() waits for the trainer's stream.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <deque>
#include <map>
#include <memory>
#include <span>

#include "model/cuda_layer.h"
#include "model/transformer.h"
#include "rollout/generator.h"

namespace tritonsmith::rollout {

class CudaDecoder {
 public:
  struct Limits {
    int slots = 64;
    int prompts = 64;           // prompts whose last logits are kept
    int max_length = 2048;      // tokens of a sequence
    int prefill_tokens = 8192;  // prompt tokens that are computed at once
    int pages = 0;              // pages of the cache
  };
  // A slot's new sequence. Its first token is sampled from the logits of a kept prompt.
  struct Placement {
    int slot = 0;
    int prompt = 0;  // the prompt's row of kept logits
    int prompt_length = 0;
    std::vector<int> pages;  // pages of prompt and completion, in order
    std::uint64_t seed = 0;
    SamplingParams sampling;
  };
  struct Prompt {
    int row = 0;  // the row that keeps its logits
    std::span<const TokenId> tokens;
    std::span<const int> pages;
  };
  struct PageCopy {
    int from = 0, to = 0;
  };
  // The samples of one launch, for each of its slots. Token -1 means that the logits are not
  // finite.
  struct Draws {
    std::vector<TokenId> tokens;
    std::vector<float> logprobs;
  };

  CudaDecoder(const model::Transformer& model, const Limits& limits);
  ~CudaDecoder();
  CudaDecoder(const CudaDecoder&) = delete;
  CudaDecoder& operator=(const CudaDecoder&) = delete;

  // Bytes of cache for one page, and the most bytes that such a decoder allocates for everything
  // else. The latter includes reading prompts and choosing kernels.
  static std::int64_t page_bytes(const model::ModelConfig& config);
  static std::int64_t other_bytes(const model::Transformer& model, const Limits& limits);

  Status refresh();
  // Computes prompts into their pages: several with at most `prefill_tokens` tokens together, or a
  // single one of any length.
  void prefill(std::span<const Prompt> prompts);
  void copy_pages(std::span<const PageCopy> copies);
  // Assigns the slots and samples the first token of each, in one launch.
  Status place(std::span<const Placement> placements);
  // Decodes one token for each of these slots and samples the next, in one launch.
  Status step(std::span<const int> slots);
  // Waits for the oldest launch that was not read yet.
  Result<Draws> read_oldest();
  std::size_t unread() const { return unread_.size(); }

  static constexpr std::size_t kMostUnread = 4;

 private:
  struct Arrays;
  struct Buffers;
  struct Landing;
  void allocate(const Limits& limits);
  at::Tensor read_together(std::span<const Prompt> prompts);
  at::Tensor read_in_pieces(const Prompt& prompt);
  void run_step(std::int64_t rows);
  void run_layer(std::size_t layer, std::int64_t rows);
  Result<void*> graph_for(std::int64_t rows);
  Status set_rows(std::span<const int> slots, std::int64_t rows);
  Status keep_result(std::int64_t rows, std::size_t used);
  void norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& normed);
  model::cuda::Stream native_stream() const;
  model::cuda::PagedCache cache_of(std::size_t layer) const;
  Status check(int code, std::string_view doing) const;

  const model::Transformer& model_;
  const model::HalfWeights* half_ = nullptr;
  Limits limits_;
  model::Sums sums_;
  int pages_per_slot_ = 0;
  int pending_parts_ = 0;  // of the last product onto the residual stream: the next norm adds them
  std::int64_t most_rows_ = 0;
  c10::Stream stream_;
  std::unique_ptr<model::Cublas> cublas_, prefill_cublas_;
  at::Tensor keys_, values_;  // [layers, pages, kv_heads, kPage, D]
  at::Tensor page_table_;     // [slots + prompts, pages_per_slot]: prompts have rows of their own
  at::Tensor prompt_logits_;  // [prompts, V]
  model::RopeTable rope_;     // float32
  std::unique_ptr<Arrays> arrays_;
  std::unique_ptr<Buffers> buffers_;
  std::vector<std::unique_ptr<Landing>> results_;  // a ring
  std::size_t next_result_ = 0;
  std::deque<Landing*> unread_;
  std::vector<int> rows_on_device_;
  std::map<std::int64_t, void*> graphs_;  // by rows
};

}  // namespace tritonsmith::rollout
