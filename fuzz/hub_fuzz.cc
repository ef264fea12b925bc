// Fuzzes what a hub sends, and what a cache holds: lists of files, and names. Whatever the list says,
// each file stays inside its repository, and its content has the name of a checksum. Any path can
// become part of a URL.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "hub/hub_connection.h"
#include "hub/hub_name.h"
#include "hub/remote_file.h"

namespace {

using namespace tritonsmith;

void use(const std::vector<hub::RemoteFile>& files) {
  for (const hub::RemoteFile& each : files) {
    CHECK(!each.path.starts_with('/') && ("/" + each.path + "/").find("/../") == std::string::npos,
          "'{}' leads out of the repository", each.path);
    CHECK(std::ranges::all_of(each.blob(), [](unsigned char c) { return std::isxdigit(c) != 0; }),
          "'{}' is no checksum", each.blob());
  }
  const auto tree = parse_json(hub::tree_text(files));
  CHECK(tree && hub::files_from_tree(*tree), "a list of files can be read again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto name = hub::parse_hub_name(text))
    CHECK(hub::parse_hub_name(name->id + "@" + name->revision) == name, "a name is itself again");
  const std::string url = hub::url_encoded(text, "/");
  CHECK(url.size() >= text.size() &&
            std::ranges::all_of(url, [](unsigned char c) { return c > ' ' && c < 0x7F; }),
        "'{}' is no part of a URL", url);
  const auto json = parse_json(text);
  if (!json) return 0;
  if (const auto files = hub::files_from_api(*json)) use(*files);
  if (const auto files = hub::files_from_tree(*json)) use(*files);
  return 0;
}
