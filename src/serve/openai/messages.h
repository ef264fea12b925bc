// The messages of a chat as clients of OpenAI's protocol send them, and as our models read them. Pure
// functions of hostile data.
#pragma once

#include <vector>

#include "serve/openai/members.h"
#include "text/chat.h"

namespace tritonsmith::serve::openai {

// Reads the member `messages`. The chat formats of our models have no role for tools. So a call of a
// tool becomes text of the assistant, between <tool_call> and </tool_call>. The results that follow
// it become one message of the user, each between <tool_response> and </tool_response>. Many models
// know this form from their training.
void read_messages(Members& members, std::vector<text::Message>& messages);

}  // namespace tritonsmith::serve::openai
