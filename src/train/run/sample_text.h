// Shows a sample as Markdown, for TensorBoard: what was written, how it was judged, what it earned.
#pragma once

#include <string>

#include "data/sample.h"

namespace tritonsmith::train {

// Completions beyond 4 KiB are cut.
std::string text_of_sample(const Sample& sample);

}  // namespace tritonsmith::train
