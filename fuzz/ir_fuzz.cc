// Fuzzes the text that names a kernel in the compile cache. It is never larger than the IR.
#include <cstdint>
#include <cstdlib>

#include "gym/language/triton/locations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view ir(reinterpret_cast<const char*>(data), size);
  const auto kept = tritonsmith::gym::language::triton::without_locations(ir);
  if (kept && kept->size() > size) std::abort();
  return 0;
}
