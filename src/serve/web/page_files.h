// PageFile: a file of web/, which is part of the program's bytes.
#pragma once

#include <span>
#include <string_view>

namespace tritonsmith::serve::web {

struct PageFile {
  std::string_view name, bytes;
};
std::span<const PageFile> page_files();

// Returns the bytes of the file, which must exist.
std::string_view page_file(std::string_view name);

}  // namespace tritonsmith::serve::web
