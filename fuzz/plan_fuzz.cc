// libFuzzer entry for parse_plan. An accepted plan must survive being written and read again.
// fuzz/CMakeLists.txt says how to build it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "gym/plan/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tritonsmith;
  const auto plan = gym::plan::parse_plan({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  const auto again = gym::plan::parse_plan(to_line(gym::plan::to_json(*plan)));
  CHECK(again.has_value(), "{}", again.error().message);
  return 0;
}
