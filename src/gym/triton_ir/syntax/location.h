// LocationTable: the `loc(...)`s of Triton IR. A location is a position in a file, a name around
// another location, or a call with the positions in the callee and the caller. The table finds the
// candidate's own line, which is the innermost position in the kernel's own file. So an access
// inside tl.load or tl.sum is attributed to the line that called it. The parser builds the table
// and may see `#loc7` before its definition.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gym/triton_ir/syntax/scanner.h"
#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

class LocationTable {
 public:
  // Parses the rest after "loc(", including the closing bracket. Returns the index of the location.
  Result<int> parse_rest(Scanner& scanner);
  // Parses a line "#loc7 = loc(...)". The cursor must be at '#'.
  Status parse_definition(Scanner& scanner);

  // Returns the lines of all locations, by index, as seen from the file of the location `kernel`.
  std::vector<SourceLine> resolve(int kernel) const;

 private:
  struct Location {
    std::string file;  // of a position; else empty
    SourceLine position;
    std::string reference;   // "#loc7"
    std::vector<int> parts;  // in order of preference: callee before caller
  };
  struct Found {
    const Location* location = nullptr;
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
