// ProgramOrder: the order in which the program scheduler of the evaluator runs the programs of a
// launch. A GPU guarantees no order. If a loop of a program iterates very often, the program may be
// waiting for another one, so the scheduler suspends it and runs others. In the interleaved order,
// the scheduler also suspends some programs before an atomic until the other programs have ended. In
// the shuffled order, it suspends each program before each atomic, and then runs one atomic of each
// program, in another order of programs each time. In the backwards order, the lanes of one store run
// backwards, too. In the order `lanes_apart`, programs run forwards, and a lane sees what another lane of
// its program stored only after a barrier.
#pragma once

#include <cstdint>

namespace tritonsmith::gym::language {

struct ProgramOrder {
  enum class Kind { forwards, backwards, interleaved, shuffled, lanes_apart };
  Kind kind = Kind::forwards;
  std::uint64_t seed = 0;  // of the interleaved and the shuffled order
};

}  // namespace tritonsmith::gym::language
