// Writer: the interface through which episodes, evaluation and the assistant get completions. The
// caller submits messages and receives completions in the order in which they finish. Many requests
// may be in flight. A writer needs no tokenizer: a remote model is a Writer (generate/api).
// TokenWriter (generate/token_writer.h) is a Writer that also gives token ids and
// log-probabilities.
//
// One thread calls a writer. The work happens inside next_by(), or on threads of the writer's own.
// A caller that has other things to do passes a deadline, and asks again later.
//
// The calls fail if the writer is broken, for example by damaged weights, or by a server that is
// gone or refuses the key. The error is one line that says what to do. A bad completion is no
// error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "data/completion.h"
#include "generate/sampling.h"
#include "text/chat.h"

namespace tritonsmith::generate {

struct WriteRequest {
  std::uint64_t id = 0;  // the caller chooses it; it differs between the requests in flight
  // The writer adds the assistant's next message, so the last message here is not the assistant's.
  // An assistant's message that this writer wrote carries its tokens, and is not tokenized again.
  std::vector<text::Message> messages;
  SamplingParams sampling;
  std::uint64_t seed = 0;  // the seed of sampling, if the writer has one
  // Receives the text piece by piece while it is written, on the caller's thread, inside next_by().
  // It must not call the writer. The pieces together are the completion's text.
  std::function<void(std::string_view piece)> on_text = nullptr;
  // If a server breaks off, the writer begins the completion anew and calls this, in the same way
  // as on_text. The caller must then drop the pieces so far. If this is null, a writer that may
  // have to begin anew gives the text in one piece.
  std::function<void()> on_restart = nullptr;
};

struct Written {
  std::uint64_t id = 0;  // of the request
  std::string prompt;    // the messages as the model read them, for records and readers
  // The text, the finish reason and the usage are always there. A TokenWriter also fills in the
  // prompt's tokens, the completion's tokens and their log-probabilities.
  Completion completion;
  // For each token, the byte at which its part of the text ends. The token that ended the
  // completion has no text and no entry. Empty if the writer knows no tokens.
  std::vector<std::size_t> token_ends;
};

class Writer {
 public:
  virtual ~Writer() = default;

  // Fails when the writer is broken, or when it knows that it can never serve the request. The
  // error then names the limit.
  virtual Status submit(WriteRequest request) = 0;
  // Waits until a completion is finished. Returns nothing when no request is in flight, or when the
  // deadline has passed; the call may end a decode step later than the deadline.
  virtual Result<std::optional<Written>> next_by(Deadline deadline) = 0;
  Result<std::optional<Written>> next() { return next_by(Deadline::never()); }
  // Gives up a request. Its completion will not come. The writer ignores an unknown id.
  virtual void cancel(std::uint64_t id) = 0;
  // Makes a broken writer take requests again, if what broke it may have passed, such as a server
  // that was away. The requests in flight are gone. Returns false if the writer stays broken.
  virtual bool recover() { return false; }

  // Tells whether the messages and max_new_tokens fit into the model's context. A writer that
  // cannot tell returns true.
  virtual bool has_room(std::span<const text::Message> /*messages*/,
                        const SamplingParams& /*sampling*/) const {
    return true;
  }
  // Returns the number of tokens that prompt and completion may have together, if it is known.
  virtual std::optional<std::int64_t> context_length() const { return std::nullopt; }
};

}  // namespace tritonsmith::generate
