// Writes a model as others hand theirs on: in 16 bits, and in several files with an index, as
// `transformers` does and load_model reads again. What training writes is float32 in one file
// (checkpoint.h): its masters.
#pragma once

#include <filesystem>
#include <limits>

#include "base/enum_names.h"
#include "model/transformer.h"

namespace tritonsmith::model {

enum class WeightType { float32, bfloat16, float16 };

struct ExportFormat {
  WeightType type = WeightType::float32;
  // The most bytes of weights in a file; a tensor that is larger has one for itself.
  std::int64_t file_bytes = std::numeric_limits<std::int64_t>::max();
};

c10::ScalarType scalar_type_of(WeightType type);

// Rounds one tensor at a time. Fails where the directory has weights already: files of two models
// under one index would be read as one.
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
