// Fuzzes Triton IR. Any text is parsed. If it parses, it is evaluated over small buffers with guard
// bytes around them. Nothing may crash, hang, or touch a guard byte.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "gym/triton_ir/kernel_program.h"

namespace {

using namespace tritonsmith::gym;

constexpr std::size_t kGuard = 256;
constexpr std::size_t kBytes = 4096;
constexpr std::byte kGuardByte{0xA5};

void run(const triton_ir::KernelProgram& program) {
  std::vector<std::vector<std::byte>> memory;
  triton_ir::Launch launch{.grid = {3, 2, 1}};
  memory.reserve(program.arguments().size());
  for (const triton_ir::ValueType& type : program.arguments()) {
    if (type.element != triton_ir::Element::pointer &&
        type.element != triton_ir::Element::descriptor) {
      launch.arguments.push_back(std::int64_t{17});
      continue;
    }
    memory.emplace_back(kBytes + 2 * kGuard, kGuardByte);
    std::memset(memory.back().data() + kGuard, 0, kBytes);
    launch.arguments.push_back(triton_ir::PointerArgument{static_cast<int>(launch.buffers.size())});
    launch.buffers.push_back(
        {.data = memory.back().data() + kGuard, .bytes = kBytes, .element_bytes = 4});
  }
  const triton_ir::Budget budget{.op_elements = 3'000'000, .register_bytes = std::size_t{64} << 20};
  static_cast<void>(triton_ir::evaluate(program, launch, budget));
  for (const auto& bytes : memory)
    for (std::size_t i = 0; i < kGuard; ++i)
      CHECK(bytes[i] == kGuardByte && bytes[bytes.size() - 1 - i] == kGuardByte,
            "a guard byte was written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto program = triton_ir::parse_ttir({reinterpret_cast<const char*>(data), size}))
    run(*program);
  return 0;
}
