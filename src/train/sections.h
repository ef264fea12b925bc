// The sections that all training configs share. fields() has the help and range of each number.
// TOML, --set, --help and the record in the run directory use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/config.h"
#include "base/enum_names.h"
#include "model/device.h"
#include "model/transformer.h"
#include "text/chat.h"
#include "train/adamw.h"
#include "train/packing.h"
#include "train/schedule.h"

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

// Whether the common beginning of prompts is computed once in a pass. automatic: on for a GPU,
// where it saves time. It is off for a CPU, because sharing changes the order of the sums in
// gradients.
enum class SharePrompts { automatic, on, off };

struct OptimizerSection {
  double learning_rate = 1e-3;
  ScheduleShape schedule = ScheduleShape::cosine;
  std::int64_t warmup_updates = 20;
  double final_ratio = 0.1;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  double max_grad_norm = 1.0;
  std::int64_t micro_batch_tokens = 8192;
  SharePrompts share_prompts = SharePrompts::automatic;
  static Fields<OptimizerSection> fields();

  PackingOptions packing(c10::Device device) const {
    const bool is_on = share_prompts == SharePrompts::on ||
                       (share_prompts == SharePrompts::automatic && device.is_cuda());
    return {.budget = micro_batch_tokens, .shares_prompts = is_on};
  }
  AdamWOptions adamw() const {
    return {.beta1 = beta1, .beta2 = beta2, .epsilon = epsilon, .weight_decay = weight_decay};
  }
  double rate_at(std::int64_t update, std::int64_t total) const {
    return learning_rate_at({.shape = schedule,
                             .peak = learning_rate,
                             .warmup = warmup_updates,
                             .final_ratio = final_ratio},
                            update, total);
  }
};

// Checks the settings without a useful default: a directory to write to and a model to begin with.
Status check_sections(const RunSection& run, const ModelSection& model);

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

namespace tritonsmith {
template <>
inline constexpr auto enum_names<train::SharePrompts> =
    names<train::SharePrompts>({{train::SharePrompts::automatic, "auto"},
                                {train::SharePrompts::on, "on"},
                                {train::SharePrompts::off, "off"}});
}  // namespace tritonsmith
