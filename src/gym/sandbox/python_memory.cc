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
struct FreedBlocks {
  std::array<Block, 16> blocks;
  std::size_t count = 0;
};

void* allocate(void* context, std::size_t bytes) {
  auto& freed = *static_cast<FreedBlocks*>(context);
  for (std::size_t i = freed.count; i-- > 0;) {
    if (freed.blocks[i].bytes != bytes) continue;
    void* address = freed.blocks[i].address;
    freed.blocks[i] = freed.blocks[--freed.count];
    return address;
  }
  void* fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return fresh == MAP_FAILED ? nullptr : fresh;
}

// Python's own allocator may have made the block: that one uses mmap, too.
void release(void* context, void* block, std::size_t bytes) {
  auto& freed = *static_cast<FreedBlocks*>(context);
  if (freed.count < freed.blocks.size())
    freed.blocks[freed.count++] = {.address = block, .bytes = bytes};
  else
    (void)::munmap(block, bytes);
}

}  // namespace

BlockAllocator keeping_allocator() {
  static FreedBlocks freed;
  return {.context = &freed, .allocate = allocate, .release = release};
}

}  // namespace tritonsmith::gym::sandbox
