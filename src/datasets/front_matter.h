// Parses the front matter of a data set's README.md: YAML between two lines `---`, as the Hugging
// Face hub reads it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tritonsmith::datasets {

struct SplitFiles {
  std::string split;
  std::vector<std::string> patterns;  // paths relative to the README, with * and **
};
struct DatasetConfig {
  std::string name;
  std::vector<SplitFiles> splits;
};
struct FrontMatter {
  std::string licence;
  std::vector<DatasetConfig> configs;
};

// Text without front matter has an empty one. Fails if the YAML is damaged.
Result<FrontMatter> parse_front_matter(std::string_view readme);

// Tells if the path fits the pattern: * and ? are for characters of a name, ** for any folders.
bool fits(std::string_view pattern, std::string_view path);

}  // namespace tritonsmith::datasets
