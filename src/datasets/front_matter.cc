#include "datasets/front_matter.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

namespace tritonsmith::datasets {
namespace {

std::vector<std::string> texts(const YAML::Node& node) {
  std::vector<std::string> out;
  if (!node.IsDefined()) return out;
  if (node.IsScalar()) out.push_back(node.Scalar());
  if (node.IsSequence())
    for (const YAML::Node& each : node)
      if (each.IsScalar()) out.push_back(each.Scalar());
  return out;
}

std::string text_of(const YAML::Node& node, const char* name, const std::string& otherwise) {
  const YAML::Node member = node[name];
  return member.IsDefined() && member.IsScalar() ? member.Scalar() : otherwise;
}

// `data_files` is a pattern, a list of patterns, or a list of a pattern or patterns for each split.
std::vector<SplitFiles> splits_of(const YAML::Node& files) {
  std::vector<SplitFiles> splits;
  if (!files.IsDefined()) return splits;
  const bool by_split = files.IsSequence() && files.size() > 0 && files[0].IsMap();
  if (!by_split) {
    splits.push_back({.split = "train", .patterns = texts(files)});
    return splits;
  }
  for (const YAML::Node& each : files)
    if (each.IsMap())
      splits.push_back({.split = text_of(each, "split", "train"), .patterns = texts(each["path"])});
  return splits;
}

FrontMatter front_matter_of(const YAML::Node& root) {
  FrontMatter out;
  if (!root.IsMap()) return out;
  for (const std::string& each : texts(root["license"]))
    out.licence += (out.licence.empty() ? "" : ", ") + each;
  const YAML::Node configs = root["configs"];
  if (!configs.IsDefined() || !configs.IsSequence()) return out;
  for (const YAML::Node& each : configs)
    if (each.IsMap())
      out.configs.push_back({.name = text_of(each, "config_name", "default"),
                             .splits = splits_of(each["data_files"])});
  return out;
}

}  // namespace

Result<FrontMatter> parse_front_matter(std::string_view readme) {
  if (!readme.starts_with("---\n") && !readme.starts_with("---\r\n")) return FrontMatter{};
  const std::size_t begin = readme.find('\n') + 1;
  const std::size_t end = readme.find("\n---", begin);
  if (end == std::string_view::npos) return FrontMatter{};
  try {
    return front_matter_of(YAML::Load(std::string(readme.substr(begin, end - begin))));
  } catch (const std::exception& error) {
    return fail("its front matter is no YAML: {}", error.what());
  }
}

// `ends` marks where the part of the path may end that fits the pattern so far. It moves on with each
// sign of the pattern, so the time is the product of both lengths. A search that goes back would
// take years for some patterns.
bool fits(std::string_view pattern, std::string_view path) {
  std::vector<bool> ends(path.size() + 1, false);
  ends[0] = true;
  while (!pattern.empty()) {
    const char sign = pattern[0];
    const bool is_folders = pattern.starts_with("**");
    pattern.remove_prefix(is_folders ? 2 : 1);
    if (is_folders && pattern.starts_with('/')) pattern.remove_prefix(1);
    if (is_folders && pattern.empty()) return std::ranges::find(ends, true) != ends.end();
    std::vector<bool> next(ends.size(), false);
    bool began = false;  // the run of * or ** has begun
    for (std::size_t at = 0; at < ends.size(); ++at) {
      const char before = at == 0 ? '/' : path[at - 1];
      if (is_folders) {
        next[at] = ends[at] || (began && before == '/');
        began = began || ends[at];
      } else if (sign == '*') {
        began = (began && before != '/') || ends[at];
        next[at] = began;
      } else {
        next[at] = at > 0 && ends[at - 1] && (sign == '?' ? before != '/' : before == sign);
      }
    }
    ends = std::move(next);
  }
  return ends.back();
}

}  // namespace tritonsmith::datasets
