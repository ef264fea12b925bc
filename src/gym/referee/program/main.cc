// The referee's process by itself; `tritonsmith gym-referee` is the same.
#include <cstdlib>
#include <string_view>

#include "gym/referee/serve.h"

int main(int argc, char** argv) {
  std::optional<int> gpu;
  if (argc == 3 && std::string_view(argv[1]) == "--gpu") gpu = std::atoi(argv[2]);
  return tritonsmith::gym::serve_referee(3, gpu);
}
