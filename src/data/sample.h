// Sample: one line of samples.jsonl. It holds a prompt, the model's completion, the verdict and the
// reward.
#pragma once

#include <optional>

#include "data/completion.h"
#include "data/reward.h"
#include "data/verdict.h"

namespace tritonsmith {

struct Sample {
  std::int64_t step = 0;
  int group = 0;   // index of the prompt within the step
  int member = 0;  // index within the group
  int turn = 0;    // turn of the conversation, from 0
  std::string task_id;
  std::string prompt;  // as text, for readers; the completion has the tokens
  Completion completion;
  std::string kernel;  // the extracted source
  Verdict verdict;
  Reward reward;
  double advantage = 0;
};

Json to_json(const Sample& sample);
Result<Sample> sample_from_json(const Json& json);

}  // namespace tritonsmith
