// Feedback: a verdict as text that a model can act on: what failed, where (the candidate's own
// line), by how much; for a kernel that is right, what it cost against the reference and which
// kernels and operators took the time. Two styles, as prompts have: full says it in sentences and
// asks for the next answer, compact is for small models trained here. Pure; the same verdict gives
// the same text, which is never longer than a screen: what a candidate can make long (messages,
// lines of its source, names) is cut.
#pragma once

#include <string>

#include "data/verdict.h"
#include "text/prompt.h"

namespace tritonsmith::text {

std::string feedback_text(const Verdict& verdict, PromptStyle style);

// At most `limit` bytes of a text on one line, cut between characters of UTF-8, with "..." where
// something is missing.
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace tritonsmith::text
