// OptimizerSection: the config section [optimizer], which all training configs share. fields() has
// the help and range of each number. TOML, --set, --help and the record in the run directory use it.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "base/config.h"
#include "base/enum_names.h"
#include "train/batch/packing.h"
#include "train/optimizer/adamw.h"
#include "train/optimizer/schedule.h"

namespace tritonsmith::train {

// Says if the common beginning of prompts is computed once in a pass. automatic: on for a GPU,
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

}  // namespace tritonsmith::train

namespace tritonsmith {
template <>
inline constexpr auto enum_names<train::SharePrompts> =
    names<train::SharePrompts>({{train::SharePrompts::automatic, "auto"},
                                {train::SharePrompts::on, "on"},
                                {train::SharePrompts::off, "off"}});
}  // namespace tritonsmith
