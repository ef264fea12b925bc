// Fuzzes frames from a hostile peer. Any bytes, cut anywhere, give whole frames within the limit or
// a typed fault.
#include <cstdint>
#include <cstdlib>

#include "gym/wire/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLimit = 4096;
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tritonsmith::gym::wire::FrameReader reader(kLimit);
  for (std::size_t at = 1; at < size; at += step) {
    if (!reader.take(bytes.substr(at, step))) return 0;
    while (const auto frame = reader.next())
      if (frame->size() > kLimit) std::abort();
  }
  return 0;
}
