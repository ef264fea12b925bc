// VerifiedReply: the model NAME-verified. It takes the module from the last message, searches as
// `write` does, tells of each attempt as reasoning text, and answers with a kernel only if the judge
// accepted it. The reply's member `tritonsmith` holds the verdict. A client that leaves stops the
// search.
#pragma once

#include "serve/assistant/assistant.h"
#include "serve/openai/model_reply.h"

namespace tritonsmith::serve::assistant {

inline constexpr std::string_view kVerifiedSuffix = "-verified";

// The call's member `tritonsmith` may hold an order's members, such as "policy" and "seconds".
// `model` is the NAME.
openai::CallResult<std::unique_ptr<openai::ReplyStream>> answer_verified(
    Assistant& assistant, const std::string& model, const openai::ChatCall& call,
    const std::string& owner);

}  // namespace tritonsmith::serve::assistant
