#include "cli/call/output_of.h"

#include <array>
#include <cstdio>

namespace tritonsmith::cli {

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), got);
  if (::pclose(pipe) != 0) return {};
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

std::string versions_of_python(const std::string& python) {
  return output_of("'" + python +
                   "' -I -c 'import importlib.metadata as m, sys; print(sys.version.split()[0] + "
                   "\", torch \" + m.version(\"torch\") + \", triton \" + m.version(\"triton\"))'");
}

}  // namespace tritonsmith::cli
