#include "gym/judge/ceilings_file.h"

#include <algorithm>
#include <cctype>

#include "base/cache_directory.h"
#include "base/file.h"

namespace tritonsmith::gym::judge {
namespace {

std::filesystem::path file_of(const std::filesystem::path& folder, std::string gpu) {
  std::ranges::replace_if(
      gpu, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return folder / (gpu + ".json");
}

}  // namespace

std::optional<Ceilings> known_ceilings(const std::filesystem::path& folder,
                                       const std::string& gpu) {
  std::error_code ignored;
  const std::filesystem::path file = file_of(folder, gpu);
  if (folder.empty() || !std::filesystem::exists(file, ignored)) return std::nullopt;
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  const auto json = parse_json(*text);
  if (!json) return std::nullopt;
  const auto ceilings = ceilings_from_json(*json);
  if (!ceilings || ceilings->gpu != gpu) return std::nullopt;
  return *ceilings;
}

Status keep_ceilings(const std::filesystem::path& folder, const Ceilings& ceilings) {
  TRY(make_directories(folder));
  return write_file_atomic(file_of(folder, ceilings.gpu), to_json(ceilings).dump(2) + "\n");
}

std::filesystem::path ceilings_folder() { return cache_directory("ceilings"); }

}  // namespace tritonsmith::gym::judge
