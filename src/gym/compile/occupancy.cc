#include "gym/compile/occupancy.h"

#include <algorithm>
#include <array>

namespace tritonsmith::gym::compile {
namespace {

struct Multiprocessor {
  std::string_view target;
  int warps = 0, blocks = 0, shared_kib = 0;
};

constexpr std::array<Multiprocessor, 6> kMultiprocessors = {
    {{.target = "sm_80", .warps = 64, .blocks = 32, .shared_kib = 164},
     {.target = "sm_86", .warps = 48, .blocks = 16, .shared_kib = 100},
     {.target = "sm_89", .warps = 48, .blocks = 24, .shared_kib = 100},
     {.target = "sm_90", .warps = 64, .blocks = 32, .shared_kib = 228},
     {.target = "sm_100", .warps = 64, .blocks = 32, .shared_kib = 228},
     {.target = "sm_120", .warps = 48, .blocks = 24, .shared_kib = 100}}};

// The same for all of these chips. Each of the four parts of a multiprocessor has registers of its
// own. Registers and shared memory are handed out in whole units, and the driver takes a KiB of
// shared memory for each block.
constexpr int kParts = 4, kRegistersOfAPart = 16384, kThreadsOfAWarp = 32;
constexpr int kRegisterUnit = 256, kSharedUnit = 128, kSharedOfTheDriver = 1024, kKib = 1024;

int in_units(int amount, int unit) { return (amount + unit - 1) / unit * unit; }

}  // namespace

double occupancy(const BlockNeeds& block, std::string_view target) {
  const auto chip = std::ranges::find(kMultiprocessors, target, &Multiprocessor::target);
  if (chip == kMultiprocessors.end() || block.warps <= 0) return 0;
  int blocks = std::min(chip->blocks, chip->warps / block.warps);
  if (block.registers > 0) {
    const int of_a_warp = in_units(block.registers * kThreadsOfAWarp, kRegisterUnit);
    blocks = std::min(blocks, kParts * (kRegistersOfAPart / of_a_warp) / block.warps);
  }
  const int shared = in_units(block.shared_bytes + kSharedOfTheDriver, kSharedUnit);
  blocks = std::min(blocks, chip->shared_kib * kKib / shared);
  return static_cast<double>(blocks * block.warps) / chip->warps;
}

}  // namespace tritonsmith::gym::compile
