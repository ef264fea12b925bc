// Writes a model for publication: in 16 bits, and in several files with an index. `transformers`
// writes the same format, and load_model reads it. Training itself writes its float32 masters in
// one file (checkpoint.h).
#pragma once

#include <filesystem>
#include <limits>

#include "base/enum_names.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {

enum class WeightType { float32, bfloat16, float16 };

struct ExportFormat {
  WeightType type = WeightType::float32;
  // Limit for the bytes of weights in a file. A larger tensor gets a file of its own.
  std::int64_t file_bytes = std::numeric_limits<std::int64_t>::max();
};

c10::ScalarType scalar_type_of(WeightType type);

// Rounds one tensor at a time. Fails if the directory already contains weights, because one index
// could then list the files of two models.
Status export_model(const Transformer& model, const std::filesystem::path& directory,
                    const ExportFormat& format);

}  // namespace tritonsmith::model

namespace tritonsmith {
template <>
inline constexpr auto enum_names<model::WeightType> =
    names<model::WeightType>({{model::WeightType::float32, "float32"},
                              {model::WeightType::bfloat16, "bfloat16"},
                              {model::WeightType::float16, "float16"}});
}  // namespace tritonsmith
