// Reads the requests of trainers that fetch rewards from a URL. OpenRLHF sends whole queries,
// prompt and completion in one text. slime sends one sample. Pure functions of hostile bytes.
//
//   OpenRLHF   {"query": [text], "prompts": [text], "labels": [label]}
//   slime      {"prompt": text or messages, "response": text, "label": label}
#pragma once

#include <string_view>
#include <vector>

#include "serve/jobs/scoring.h"

namespace tritonsmith::serve {

inline constexpr std::size_t kMostQueries = 4096;

// Fail with one line that names the member at fault.
Result<std::vector<Completion>> completions_of_openrlhf(std::string_view body);
Result<Completion> completion_of_slime(std::string_view body);

}  // namespace tritonsmith::serve
