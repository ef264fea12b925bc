#include "gym/sandbox/python_memory.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>

namespace tritonsmith::gym::sandbox {
namespace {

struct Block {
  void* address = nullptr;
  std::size_t bytes = 0;
};

constexpr std::size_t kHugePage = std::size_t{2} << 20, kObjectBlock = std::size_t{1} << 20;
constexpr std::size_t kReserve = 16 * kHugePage;

// Blocks are of 16 KiB or of 1 MiB, so these are 16 MiB at most.
struct Blocks {
  std::array<Block, 16> blocks;
  std::size_t count = 0;
  Block fresh;  // memory that nobody has used yet, for blocks of objects
};

void* map(std::size_t bytes) {
  void* found = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return found == MAP_FAILED ? nullptr : found;
}

// Blocks of objects lie side by side in huge pages. A guest that makes 20 MB of objects then has ten
// page faults and not five thousand.
void* object_block(Block& fresh) {
  if (fresh.bytes < kObjectBlock) {
    auto* const reserved = static_cast<char*>(map(kReserve + kHugePage));
    if (reserved == nullptr) return map(kObjectBlock);  // near the limit of memory
    const auto address = reinterpret_cast<std::uintptr_t>(reserved);
    char* const begin = reserved + (kHugePage - address % kHugePage) % kHugePage;
    (void)::madvise(begin, kReserve, MADV_HUGEPAGE);  // without huge pages only the speed differs
    fresh = {.address = begin, .bytes = kReserve};
  }
  auto* const block = static_cast<char*>(fresh.address);
  fresh = {.address = block + kObjectBlock, .bytes = fresh.bytes - kObjectBlock};
  return block;
}

void* allocate(void* context, std::size_t bytes) {
  auto& freed = *static_cast<Blocks*>(context);
  for (std::size_t i = freed.count; i-- > 0;) {
    if (freed.blocks[i].bytes != bytes) continue;
    void* address = freed.blocks[i].address;
    freed.blocks[i] = freed.blocks[--freed.count];
    return address;
  }
  return bytes == kObjectBlock ? object_block(freed.fresh) : map(bytes);
}

// Python's own allocator may have made the block: that one uses mmap, too.
void release(void* context, void* block, std::size_t bytes) {
  auto& freed = *static_cast<Blocks*>(context);
  if (freed.count < freed.blocks.size())
    freed.blocks[freed.count++] = {.address = block, .bytes = bytes};
  else
    (void)::munmap(block, bytes);
}

}  // namespace

BlockAllocator keeping_allocator() {
  static Blocks freed;
  return {.context = &freed, .allocate = allocate, .release = release};
}

}  // namespace tritonsmith::gym::sandbox
