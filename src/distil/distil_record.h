// DistilRecord: one line of a distillation's samples.jsonl: a judged turn of a conversation with a
// teacher. It is a sample (data/sample.h) with what training data needs besides: how the teacher was
// asked, and what it was told about its answer.
#pragma once

#include "data/sample.h"
#include "distil/prompt_form.h"

namespace tritonsmith::distil {

struct DistilRecord {
  Sample sample;  // its group counts the tasks, its member the conversations about a task
  PromptForm form = PromptForm::conversion;
  std::vector<text::Message> messages;  // of the first turn's prompt; later turns have none
  std::string feedback;                 // on this turn's answer, as a next turn would see it
};

Json to_json(const DistilRecord& record);
Result<DistilRecord> record_from_json(const Json& json);

}  // namespace tritonsmith::distil
