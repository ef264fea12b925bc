// Reads plans, one JSON document per line. For each plan that is refused it prints the reason. The
// exit code is 1 if any plan is refused.
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
