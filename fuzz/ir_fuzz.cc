// The text that names a kernel in the compile cache is never larger than the IR, whatever the IR
// is.
#include <cstdint>
#include <cstdlib>

#include "gym/compile/compile_cache.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view ir(reinterpret_cast<const char*>(data), size);
  const auto kept = tritonsmith::gym::compile::without_locations(ir);
  if (kept && kept->size() > size) std::abort();
  return 0;
}
