// Makes RLoop's supervised set (algorithm/expert_set.h, arXiv 2511.04285): the successful turns of
// a finished reinforcement learning run, as examples for `sft`. It reads only the run directory:
// the config for the form of the prompts, and the tasks and samples. A later turn keeps the
// conversation before it. If the run managed the context (turns.context is not all), only first
// turns are taken.
#pragma once

#include <filesystem>

#include "algorithm/expert_set.h"
#include "train/sft/sft_examples.h"

namespace tritonsmith::train {

// Fails with the file and line of a damaged record, or if no turn succeeded.
Result<std::vector<SftExample>> expert_examples(const std::filesystem::path& run_directory,
                                                const algorithm::ExpertOptions& options);

}  // namespace tritonsmith::train
