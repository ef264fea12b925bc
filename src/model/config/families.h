// Lists the families of models that the code computes, and how they differ. A new family is a new
// row in families.cc, and code in layers/ for everything that it computes in another way.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/enum_names.h"

namespace tritonsmith::model {

enum class Family { qwen2, qwen3, llama };

struct FamilyTraits {
  Family family = Family::qwen2;
  std::string_view architecture;  // the only member of "architectures" in config.json
  bool has_qkv_bias = false;      // q, k and v have biases
  bool has_qk_norm = false;       // each head's query and key are normalised before RoPE
  // The size of a head if config.json names none; 0: hidden_size / num_attention_heads.
  std::int64_t head_dim = 0;
  // A key by which the config.json that we write switches a feature off.
  std::string_view key_switched_off;
};

const FamilyTraits& traits_of(Family family);

}  // namespace tritonsmith::model

namespace tritonsmith {
// "model_type" in config.json.
template <>
inline constexpr auto enum_names<model::Family> =
    names<model::Family>({{model::Family::qwen2, "qwen2"},
                          {model::Family::qwen3, "qwen3"},
                          {model::Family::llama, "llama"}});
}  // namespace tritonsmith
