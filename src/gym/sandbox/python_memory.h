// Python asks the system for memory in blocks, for its objects and for its stack of calls. Python 3.11
// requests a block when calls nest past the end of the last one, and gives it back when they return. A
// loop around such a call would cost two system calls and fresh pages each time. So this allocator
// keeps the blocks that Python gives back, and takes new ones from huge pages. The zygote installs it
// before it imports torch, and every guest inherits it. Python calls it under its own lock, so one
// thread at a time uses it.
#pragma once

#include <cstddef>

namespace tritonsmith::gym::sandbox {

// Python's PyObjectArenaAllocator.
struct BlockAllocator {
  void* context = nullptr;
  void* (*allocate)(void* context, std::size_t bytes) = nullptr;
  void (*release)(void* context, void* block, std::size_t bytes) = nullptr;
};

// The allocator that keeps a few blocks.
BlockAllocator keeping_allocator();

}  // namespace tritonsmith::gym::sandbox
