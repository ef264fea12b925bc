// Says in one name why a candidate was not accepted. Tables count these names, each sample once.
// Other functions say the same in a few words, for lists that people read, and give the position of
// an error in one form.
#pragma once

#include <string>

#include "data/verdict.h"

namespace tritonsmith {

// The rule of the first finding that rejects, else the error's class, else the stage that was
// reached. Empty where the verdict accepts.
std::string failure_of(const Verdict& verdict);

// The error's position: "line 7: def f(:", or "relu.py, line 7: def f(:" with a file. Empty if the
// line is unknown.
std::string position_words(const VerdictError& error, std::string_view file = "");
// The error's message with its position: "invalid syntax (line 7: def f(:)". A message that names
// the line itself stays as it is.
std::string placed_message(const VerdictError& error);

// The class in a few words, as "wrong values". They complete a line such as "attempt 3: ...".
std::string_view words_for(ErrorClass error);

}  // namespace tritonsmith
