// ProgramOrder: in which order the programs of a launch take their turns in the evaluator. On the
// chip it may be any. A program that waits for another (a loop that goes round often) lets others
// go on meanwhile. Where they are interleaved, some are also held up before an atomic, until the
// others are through.
#pragma once

#include <cstdint>

namespace tritonsmith::gym::language {

struct ProgramOrder {
  enum class Kind { forwards, backwards, interleaved };
  Kind kind = Kind::forwards;
  std::uint64_t seed = 0;  // of interleaved ones
};

}  // namespace tritonsmith::gym::language
