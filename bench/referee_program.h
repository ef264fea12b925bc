// The referee that a benchmark's judge starts: the one built with it, or TRITONSMITH_REFEREE if the
// programs were moved.
#pragma once

#include <cstdlib>

#include "gym/judge/referee_process.h"

namespace tritonsmith {

inline gym::judge::RefereeProgram referee_program() {
  const char* carried = std::getenv("TRITONSMITH_REFEREE");
  return {.argv = {carried != nullptr ? carried : TRITONSMITH_REFEREE_FILE}};
}

}  // namespace tritonsmith
