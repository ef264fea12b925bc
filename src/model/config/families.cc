#include "model/config/families.h"

namespace tritonsmith::model {
namespace {

constexpr FamilyTraits kFamilies[] = {
    {.family = Family::qwen2,
     .architecture = "Qwen2ForCausalLM",
     .has_qkv_bias = true,
     .key_switched_off = "use_sliding_window"},
    {.family = Family::qwen3,
     .architecture = "Qwen3ForCausalLM",
     .has_qk_norm = true,
     .head_dim = 128,  // for every hidden size
     .key_switched_off = "attention_bias"},
    {.family = Family::llama,
     .architecture = "LlamaForCausalLM",
     .key_switched_off = "attention_bias"},
};

}  // namespace

const FamilyTraits& traits_of(Family family) {
  for (const FamilyTraits& traits : kFamilies)
    if (traits.family == family) return traits;
  check_failed(__FILE__, __LINE__, "traits_of", "a family without traits");
}

}  // namespace tritonsmith::model
