#include "serve/web/page_files.h"

#include <algorithm>

#include "base/check.h"

namespace tritonsmith::serve::web {

std::string_view page_file(std::string_view name) {
  const auto files = page_files();
  const auto file = std::ranges::find(files, name, &PageFile::name);
  CHECK(file != files.end(), "the page names {}, which is no file of it", name);
  return file->bytes;
}

}  // namespace tritonsmith::serve::web
