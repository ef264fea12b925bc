// References: known solutions of tasks, with which the similarity reward compares completions. They
// are JSONL, one a line: {"task": id, "kernel": source}. A task has at most one.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"

namespace tritonsmith::train {

using References = std::map<std::string, std::string>;  // task id -> source

// Fails with the file's name and the line's number.
Result<References> read_references(const std::filesystem::path& file);
std::string references_to_jsonl(const References& references);

}  // namespace tritonsmith::train
