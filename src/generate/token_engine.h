// TokenEngine: an engine as token ids see it. Prompts of token ids go in; completions of token
// ids with their log-probabilities come out in the order in which they finish. It knows neither
// text nor chat: TokenWriter adds both. Our engine (generate/engine) and the client of
// /v1/completions (generate/api) implement it.
//
// One thread calls submit, next_by and cancel; an engine works inside next_by.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "data/completion.h"
#include "generate/sampling.h"

namespace tritonsmith::generate {

struct GenerationRequest {
  std::uint64_t id = 0;              // the caller's; it differs between the requests in flight
  std::vector<TokenId> prompt;       // at least one token
  SamplingParams sampling;           // the engine ignores `stop`: see is_complete
  std::vector<TokenId> stop_tokens;  // the first of them to be sampled ends the completion
  std::uint64_t seed = 0;            // the draws depend on (seed, position) alone, not on the batch
  // Called after every token but a stop token, with all tokens of the completion so far. True ends
  // the completion there, as a stop token does. Null: it goes on.
  std::function<bool(std::span<const TokenId> tokens)> is_complete = nullptr;
};

// `completion.text` is empty. `completion.logprobs` are those of softmax(logits / temperature),
// before top-p and top-k cut it; at temperature 0, those of softmax(logits).
struct Generated {
  std::uint64_t id = 0;
  Completion completion;
};

class TokenEngine {
 public:
  virtual ~TokenEngine() = default;
  // Fails, and names the limit, when prompt and max_new_tokens can never fit.
  virtual Status submit(GenerationRequest request) = 0;
  // Waits until a completion is finished. Returns nothing when no request is in flight, or when the
  // deadline has passed; the call may end a decode step later than the deadline.
  virtual Result<std::optional<Generated>> next_by(Deadline deadline) = 0;
  Result<std::optional<Generated>> next() { return next_by(Deadline::never()); }
  // Gives up a request: its completion will not come.
  virtual void cancel(std::uint64_t id) = 0;
  // Waits until the device has finished everything that was launched.
  virtual Status settle() { return ok(); }
  // The number of tokens that prompt and completion may have together; 0: not known.
  virtual std::int64_t max_length() const { return 0; }
};

// Submits all requests, and returns their completions in the order of the requests. Nothing else
// may be in flight.
Result<std::vector<Completion>> generate_all(TokenEngine& engine,
                                             std::span<const GenerationRequest> requests);

}  // namespace tritonsmith::generate
