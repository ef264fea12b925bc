#include "gym/sandbox/python_memory.h"

#include <sys/mman.h>

#include <array>

namespace tritonsmith::gym::sandbox {
namespace {

struct Block {
  void* address = nullptr;
  std::size_t bytes = 0;
};

// Blocks are of 16 KiB or of 1 MiB, so these are 16 MiB at most.
struct Kept {
  std::array<Block, 16> blocks;
  std::size_t count = 0;
};

void* allocate(void* context, std::size_t bytes) {
  auto& kept = *static_cast<Kept*>(context);
  for (std::size_t i = kept.count; i-- > 0;) {
    if (kept.blocks[i].bytes != bytes) continue;
    void* address = kept.blocks[i].address;
    kept.blocks[i] = kept.blocks[--kept.count];
    return address;
  }
  void* fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return fresh == MAP_FAILED ? nullptr : fresh;
}

// Python's own allocator may have made the block: that one uses mmap, too.
void release(void* context, void* block, std::size_t bytes) {
  auto& kept = *static_cast<Kept*>(context);
  if (kept.count < kept.blocks.size())
    kept.blocks[kept.count++] = {.address = block, .bytes = bytes};
  else
    (void)::munmap(block, bytes);
}

}  // namespace

BlockAllocator keeping_allocator() {
  static Kept kept;
  return {.context = &kept, .allocate = allocate, .release = release};
}

}  // namespace tritonsmith::gym::sandbox
