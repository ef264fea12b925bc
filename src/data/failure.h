// Why a candidate was not accepted, in one name: what tables count, each sample once. The same in a
// few words, for lists that people read.
#pragma once

#include <string>

#include "data/verdict.h"

namespace tritonsmith {

// The rule of the first finding that rejects, else the error's class, else the stage that was
// reached. Empty where the verdict accepts.
std::string failure_of(const Verdict& verdict);

// The class in a few words, as "wrong values". They complete a line such as "attempt 3: ...".
std::string_view words_for(ErrorClass error);

}  // namespace tritonsmith
