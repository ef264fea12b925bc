// Messages: what a search says to the model for each ask. The functions are pure: an ask and the
// history before it give the messages, so a record needs no prompts.
//
//   an ask without a parent    the prompt alone
//   a turn of a conversation   the prompt, then the earlier turns with the feedback on each
//   a change of a kernel       the prompt, the kernel's answer, its verdict with its profile, and
//                              what to do about it
//   ideas, and their kernels   the same, and a request for ideas, or one idea to implement
// The compact style, for small models that were trained here, says no more than a turn of theirs.
#pragma once

#include <span>

#include "generate/writer.h"
#include "search/history.h"
#include "search/search_config.h"
#include "text/prompt.h"

namespace tritonsmith::search {

struct Prompting {
  std::vector<text::Message> prompt;  // of the task
  text::PromptStyle style = text::PromptStyle::full;
};

std::vector<text::Message> messages_for(const Ask& ask, const SearchConfig& config,
                                        const History& history, const Prompting& prompting);

// The same with fewer earlier turns where the model's context is too short for all of them. `ask`
// loses its parent if not even one turn fits. An edit of PTX keeps it, and may not fit at all.
std::vector<text::Message> fitting_messages(
    Ask& ask, const SearchConfig& config, const History& history, const Prompting& prompting,
    const std::function<bool(std::span<const text::Message>)>& fits);

// An answer that holds this kernel, in the form in which the model is asked for it.
std::string answer_with(const std::string& kernel);

// Returns advice from a verdict's figures on where the time goes. Empty if they say nothing.
std::string profile_advice(const Verdict& verdict);

}  // namespace tritonsmith::search
