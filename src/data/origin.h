// Origin: where a foreign task or example comes from. It travels with every row made from it, so
// that a licence can be honoured and a source be found. The members of the JSON have the names that
// GPUMODE/KernelBook gave them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace tritonsmith {

struct Origin {
  std::string dataset;     // "KernelBook"
  std::string row;         // the row's own id there, or its number
  std::string repository;  // "someone/project"
  std::string module;      // the module's name there
  std::string link;        // URL of the repository
  std::string sha;         // of the repository's commit
  std::vector<std::string> licences;
  std::optional<std::int64_t> stars;
  std::string parent;  // content key of the source that this one was made from; empty: none
  bool operator==(const Origin&) const = default;
};

// Members without a value are left out.
Json to_json(const Origin& origin);
Result<Origin> origin_from_json(const Json& json);

}  // namespace tritonsmith
