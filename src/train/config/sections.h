// Defines the sections that all training configs share besides the optimizer's
// (optimizer/optimizer_section.h). fields() has the help and range of each number. TOML, --set,
// --help and the record in the run directory use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/config.h"
#include "model/config/execution.h"
#include "model/config/sums.h"
#include "model/memory/device.h"
#include "text/chat.h"
#include "train/optimizer/flat_parameters.h"
#include "train/optimizer/optimizer_section.h"

namespace tritonsmith::train {

struct RunSection {
  std::string dir;
  std::uint64_t seed = 1;
  std::int64_t steps = 1000;
  static Fields<RunSection> fields();
};

struct ModelSection {
  std::string path;
  model::DeviceChoice device = model::DeviceChoice::automatic;
  model::Recompute recompute = model::Recompute::nothing;
  model::Precision precision = model::Precision::float16;
  model::Sums sums = model::Sums::fast;
  Masters masters = Masters::whole;
  bool check_chat = true;
  static Fields<ModelSection> fields();
};

// A dry run asks no hub, so the model that it checks may not be in the cache.
enum class ModelLocation { here, on_hub };

// Checks the settings without a useful default: a directory to write to and a model to begin with.
Status check_sections(const RunSection& run, const ModelSection& model,
                      ModelLocation location = ModelLocation::here);

// Returns the directory of the initial model: the run's own copy if it exists, else model.path.
std::filesystem::path first_model(const RunSection& run, const ModelSection& model);

// Fails if the tokenizer has ids without a row in the model, or if sequences of `longest` tokens
// exceed its positions. It does not read the weights.
Status check_model_fits(const std::filesystem::path& model, std::size_t token_ids,
                        std::int64_t longest, std::string_view longest_name);

// Returns the chat format of the model in `directory`. Fails if the directory's own chat template
// renders `prompt` differently, unless the section turns this check off.
Result<text::ChatTemplate> open_chat(const ModelSection& section,
                                     const std::filesystem::path& directory,
                                     const text::Tokenizer& tokenizer,
                                     std::span<const text::Message> prompt);

}  // namespace tritonsmith::train
