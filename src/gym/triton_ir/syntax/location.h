// LocationTable: the `loc(...)`s of Triton IR. A location may be a place in a file, a name around
// another location, or a call: the place in the callee and the place it was called from. What we
// want is the candidate's own line: the innermost place that lies in the file of the kernel itself,
// so that an access inside tl.load's or tl.sum's own code is charged to the line that called it.
// Built by the parser, which may see `#loc7` before its definition.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gym/triton_ir/syntax/scanner.h"
#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

class LocationTable {
 public:
  // After "loc(": the rest, the closing bracket included. Returns the index of the location.
  Result<int> parse_rest(Scanner& scanner);
  // A line "#loc7 = loc(...)", the cursor at '#'.
  Status parse_definition(Scanner& scanner);

  // The lines of all locations, by index, seen from the file that `kernel` lies in.
  std::vector<SourceLine> resolve(int kernel) const;

 private:
  struct Location {
    std::string file;  // of a place; else empty
    SourceLine place;
    std::string reference;   // "#loc7"
    std::vector<int> parts;  // in order of preference: callee before caller
  };
  struct Found {
    const Location* place = nullptr;
    bool own = false;  // in the kernel's file
  };
  Result<int> parse_nested(Scanner& scanner, int depth);
  Status parse_parts(Scanner& scanner, int depth, Location& into);
  Found find(int index, const std::string& file, std::vector<std::optional<Found>>& known,
             int depth) const;

  std::vector<Location> locations_ = {Location{}};  // index 0: unknown
  std::map<std::string, int, std::less<>> named_;
};

}  // namespace tritonsmith::gym::triton_ir
