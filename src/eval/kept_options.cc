#include "eval/kept_options.h"

#include <algorithm>

#include "base/file.h"

namespace tritonsmith::eval {
namespace {

constexpr std::size_t kShown = 200;  // bytes of a value; a module's source is longer

std::filesystem::path file_of(const std::filesystem::path& directory) {
  return directory / "options.json";
}

}  // namespace

std::string settled_model(const std::string& model) {
  std::error_code missing;  // a model need not be a folder
  const auto settled = std::filesystem::weakly_canonical(model, missing);
  return missing ? model : settled.string();
}

Result<bool> differs_from_kept(const std::filesystem::path& directory, const Json& options,
                               const std::set<std::string>& changeable) {
  const std::filesystem::path file = file_of(directory);
  if (!std::filesystem::exists(file)) return false;
  TRY_ASSIGN(const std::string text, read_file(file));
  const auto before = parse_json(text);
  if (!before) return fail("{}: {}", file.string(), before.error().message);
  bool differs = false;
  for (const auto& [name, value] : options.items()) {
    const Json old = before->is_object() ? before->value(name, Json()) : Json();
    // A model that is gone from its folder may have been moved.
    const bool is_moved =
        name == "model" && old.is_string() && !std::filesystem::exists(old.get<std::string>());
    if (old == value || is_moved) continue;
    differs = true;
    if (changeable.contains(name)) continue;
    const std::string before_text = to_line(old), text_now = to_line(value);
    if (std::max(before_text.size(), text_now.size()) > kShown)
      return fail("{}: these records began with another {}; give the same one or another folder",
                  directory.string(), name);
    return fail(
        "{}: these records began with {} {}, not {}; give the same options or another folder",
        directory.string(), name, before_text, text_now);
  }
  return differs;
}

Status replace_options(const std::filesystem::path& directory, const Json& options) {
  return write_file_atomic(file_of(directory), options.dump(2) + "\n");
}

Status keep_options(const std::filesystem::path& directory, const Json& options) {
  if (!std::filesystem::exists(file_of(directory))) return replace_options(directory, options);
  TRY(differs_from_kept(directory, options, {}));
  return ok();
}

}  // namespace tritonsmith::eval
