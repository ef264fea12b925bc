// Accepts names of the Hugging Face hub where a command takes a model directory or a data set:
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

// Holds what a dry run knows of a model. A dry run never asks the hub.
struct UnaskedModel {
  std::string directory;  // the path, or the folder of the cache; empty: the cache lacks the model
  std::string fetched;  // "owner/tiny from https://huggingface.co into CACHE", if a call fetches it
};
Result<UnaskedModel> unasked_model_directory(const std::string& name);

// Fetches the data set of `options`, if it is one of the hub. Its path then becomes a folder that holds
// the files of its config and split.
Status find_dataset(DatasetOptions& options);

}  // namespace tritonsmith::cli
