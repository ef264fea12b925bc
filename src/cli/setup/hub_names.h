// Names of the Hugging Face hub where a command takes a model directory or a data set:
// "Qwen/Qwen2.5-Coder-3B-Instruct", also with "@REVISION". A path that exists is always meant as a
// path. So is a name whose first part is a folder here.
#pragma once

#include <string>

#include "cli/dataset_options.h"
#include "hub/model_files.h"

namespace tritonsmith::cli {

// Returns the directory of the model. A model of the hub is fetched first, unless the cache has it.
// Text that is no name of the hub is returned as it is; reading it says what is wrong.
Result<std::string> model_directory(const std::string& name,
                                    hub::ModelPart part = hub::ModelPart::model);

// Likewise the data set of `options`: its path becomes a folder that holds the files of its config
// and split.
Status find_dataset(DatasetOptions& options);

}  // namespace tritonsmith::cli
