// Writes a verdict as text for a model. For a failure it says what failed, on which line of the
// candidate, and by how much. For a correct kernel it gives the time beside the reference's, and
// the kernels and operators that took the time. The styles are those of prompts: `full` has
// sentences and asks for the next answer, `compact` is short. The text fits on a screen, because it
// cuts all that a candidate could make long: messages, source lines and names. The functions are
// pure.
#pragma once

#include <string>

#include "data/verdict.h"
#include "text/prompt.h"

namespace tritonsmith::text {

std::string feedback_text(const Verdict& verdict, PromptStyle style);
// Returns what the full style says of a verdict, without a request for another answer.
std::string verdict_text(const Verdict& verdict);

// Returns at most `limit` bytes of a text on one line. It cuts between UTF-8 characters and puts
// "..." in place of the missing text.
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace tritonsmith::text
