// One line of `tritonsmith doctor`: something of this machine, whether it serves, and what to do
// where it does not.
#pragma once

#include <string>
#include <vector>

namespace tritonsmith::cli {

enum class Standing {
  fine,
  lacking,  // something works less well, or is slower
  broken,   // judging or training cannot work
};

struct Fact {
  Standing standing = Standing::fine;
  std::string name;
  std::string found;
  std::string advice;  // empty where there is nothing to do
};

// The gym: which layers of the jail hold here, then one kernel judged by all of it (seconds).
// Called while the program has one thread.
std::vector<Fact> jail_facts();
Fact judging_fact();

}  // namespace tritonsmith::cli
