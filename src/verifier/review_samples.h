// Asks a verifier about the kernels of a file of samples (samples.jsonl), after they were judged, so
// that no verdict waits. The findings are put into the verdicts of the file.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "verifier/agreement.h"

namespace tritonsmith::verifier {

struct SamplesReview {
  int kernels = 0;                      // that the verifier was asked about
  std::map<std::string, int> findings;  // how many by rule
  Agreement agreement;
};

// The tasks are those that the samples name; a sample of another task is left as it is. Fails when
// the file is damaged. The file is written as a whole at the end.
Result<SamplesReview> review_samples(const std::filesystem::path& file, std::span<const Task> tasks,
                                     Verifier& verifier);

}  // namespace tritonsmith::verifier
