// The texts of curated examples: prompts, answers with or without their reasoning, and the structure of
// kernels, by which diverse ones are chosen. Pure functions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "curate/material.h"
#include "curate/query.h"
#include "text/prompt_record.h"

namespace tritonsmith::curate {

// Returns the reasoning of an answer: what its server gave apart, else the thinking in the answer.
std::string reasoning_of(const Answer& answer);

std::string completion_text(const Answer& answer, Reasoning reasoning);

std::vector<text::Message> first_prompt(const Task& task, const Conversation& conversation,
                                        const Query& query);
// How the prompt was made, where it is one of ours.
std::optional<text::PromptRecord> prompt_record(const Query& query,
                                                const Conversation& conversation);
// Appends an answer and the feedback on it.
void add_turn(const Answer& answer, Reasoning reasoning, std::vector<text::Message>& messages);
// The module, a kernel for it, and the wish for a faster one.
std::vector<text::Message> improvement_prompt(const Task& task, const Answer& slower,
                                              text::PromptStyle style);

// Runs of five tokens of a kernel's normal form.
using Structure = std::set<std::size_t>;
Structure structure_of(const std::string& kernel);
// The share of both that is in each, from 0 to 1.
double likeness(const Structure& a, const Structure& b);

}  // namespace tritonsmith::curate
