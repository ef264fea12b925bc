// The referee's process as a program of its own. `tritonsmith gym-referee` does the same.
#include <cstdlib>
#include <string>
#include <string_view>

#include "gym/referee/serve.h"

int main(int argc, char** argv) {
  tritonsmith::gym::referee::ServeOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--gpu") options.gpu = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--lease") options.lease = argv[i + 1];
    if (std::string_view(argv[i]) == "--memory") options.memory_bytes = std::atoll(argv[i + 1]);
  }
  return tritonsmith::gym::referee::serve_referee(3, options);
}
