// The referee's process by itself; `tritonsmith gym-referee` is the same.
#include <cstdlib>
#include <string>
#include <string_view>

#include "gym/referee/serve.h"

int main(int argc, char** argv) {
  std::optional<int> gpu;
  std::string lease;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--gpu") gpu = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--lease") lease = argv[i + 1];
  }
  return tritonsmith::gym::serve_referee(3, gpu, lease);
}
