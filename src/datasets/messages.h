// Conversations in the columns of data sets: lists of {role, content} as OpenAI, TRL and verl have
// them, {from, value} as ShareGPT has them, the same as JSON within text, or plain text, which is the
// user's.
#pragma once

#include <vector>

#include "datasets/columns.h"
#include "text/chat.h"

namespace tritonsmith::datasets {

Result<std::vector<text::Message>> messages_from_json(const Json& json);

// Returns the conversation in the first of these columns that is there. Fails if none is, or if the
// first is no conversation.
Result<std::vector<text::Message>> messages_column(const Json& row, Names names);

Json to_json(const std::vector<text::Message>& messages);

}  // namespace tritonsmith::datasets
