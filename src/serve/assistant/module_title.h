// Makes the title of a search for people, where its order has none.
#pragma once

#include <string>
#include <string_view>

namespace tritonsmith::serve::assistant {

// Returns the comment or the docstring with which the module begins, or else the first value that its
// forward returns, in about 80 bytes. It ends after a whole word.
std::string title_of(std::string_view source);

}  // namespace tritonsmith::serve::assistant
