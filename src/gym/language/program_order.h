// ProgramOrder: the order in which the program scheduler of the evaluator runs the programs of a
// launch. A GPU guarantees no order. If a loop of a program iterates very often, the program may be
// waiting for another one, so the scheduler suspends it and runs others. In the interleaved order,
// the scheduler also suspends some programs before an atomic until the other programs have ended. In
// the backwards order, the lanes of one store run backwards, too.
#pragma once

#include <cstdint>

namespace tritonsmith::gym::language {

struct ProgramOrder {
  enum class Kind { forwards, backwards, interleaved };
  Kind kind = Kind::forwards;
  std::uint64_t seed = 0;  // of the interleaved order
};

}  // namespace tritonsmith::gym::language
