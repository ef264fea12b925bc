// Reads plans, one JSON document a line, and says of each that is refused why. Ends with 1 where
// any is.
#include <iostream>
#include <string>

#include "gym/plan/plan.h"

int main() {
  int refused = 0, number = 0;
  for (std::string line; std::getline(std::cin, line); ++number) {
    const auto plan = tritonsmith::gym::plan::parse_plan(line);
    if (!plan) {
      std::cout << "plan " << number << ": " << plan.error().message << "\n";
      ++refused;
      continue;
    }
    const auto again = tritonsmith::gym::plan::parse_plan(
        tritonsmith::to_line(tritonsmith::gym::plan::to_json(*plan)));
    if (!again || !(*again == *plan)) {
      std::cout << "plan " << number << " changes when it is written and read again\n";
      ++refused;
    }
  }
  return refused == 0 ? 0 : 1;
}
