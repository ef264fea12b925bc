// HubName: the name of a repository on the Hugging Face hub, "OWNER/NAME" or "OWNER/NAME@REVISION".
// A revision is a branch, a tag or the whole hash of a commit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::hub {

enum class RepositoryKind { model, dataset };

struct HubName {
  std::string id;  // "Qwen/Qwen2.5-Coder-3B-Instruct"
  std::string revision = "main";
  bool operator==(const HubName&) const = default;
};

// Returns nothing if the text cannot be a name of the hub, because it is a path or has other
// characters.
std::optional<HubName> parse_hub_name(std::string_view text);

// Tells whether the revision is the hash of a commit, which never changes what it means.
bool is_commit(std::string_view revision);

}  // namespace tritonsmith::hub
