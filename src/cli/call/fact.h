// Makes the lines of `tritonsmith doctor`. Each names a property of this machine, says whether it
// suffices, and what to do if it does not.
#pragma once

#include <string>
#include <vector>

namespace tritonsmith::cli {

enum class FactStatus {
  fine,
  lacking,  // works, but less well or more slowly
  broken,   // judging or training cannot work
};

struct Fact {
  FactStatus status = FactStatus::fine;
  std::string name;
  std::string found;
  std::string advice;  // empty if nothing has to be done
};

// The gym: the layers of the jail that work here, and one kernel judged with all of them (seconds).
// Call them while the program has one thread.
std::vector<Fact> jail_facts();
Fact judging_fact();

}  // namespace tritonsmith::cli
