// WholePage: index.html with the style and the scripts that it names written into it, so that a
// browser needs one reply and not one for each file.
#pragma once

#include <string>

namespace tritonsmith::serve::web {

struct WholePage {
  std::string html;
  // The header Content-Security-Policy. It allows the page's own style and script, by their hashes.
  std::string policy;
};

// Made once, at the first call. Any thread may call it.
const WholePage& whole_page();

}  // namespace tritonsmith::serve::web
