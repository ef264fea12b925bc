// RLoop's supervised set (algorithm/expert_set.h, arXiv 2511.04285): the successful turns of a
// finished reinforcement learning run, as examples for `sft`. Read from the run directory alone:
// its config says how prompts were made, its tasks and samples what was asked and written. A turn
// after the first keeps the conversation before it; where the context was managed (turns.context is
// not all), only first turns are taken.
#pragma once

#include <filesystem>

#include "algorithm/expert_set.h"
#include "train/sft_examples.h"

namespace tritonsmith::train {

// Fails with the file and line of a damaged record, or where nothing succeeded.
Result<std::vector<SftExample>> expert_examples(const std::filesystem::path& run_directory,
                                                const algorithm::ExpertOptions& options);

}  // namespace tritonsmith::train
