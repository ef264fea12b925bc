// Area: one buffer of a launch, and the tables that say which program wrote and read each of its
// elements last. Memory owns the areas of a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace tritonsmith::gym::triton_ir {

struct Area {
  static constexpr std::uint32_t kAtomic = 0x80000000u;   // marks a writer's epoch as atomic
  static constexpr std::uint32_t kSeveral = 0xFFFFFFFFu;  // more than one reader

  static constexpr int kChunkShift = 16;  // log2 of the elements that are charged for at once

  // Tables come from calloc: zeros that take no memory until they are used.
  struct Free {
    void operator()(std::uint32_t* table) const { std::free(table); }
  };
  using Table = std::unique_ptr<std::uint32_t[], Free>;

  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  std::int64_t first = 0;  // address of the first byte
  std::size_t element_bytes = 1;
  int element_shift = 0;  // log2 of element_bytes
  // The epoch of each element's last writer. 0: none. kAtomic: the write was atomic. A program
  // without atomics is one epoch. The tables exist from the first store on.
  Table writers = nullptr;
  Table readers = nullptr;         // the same for the last reader
  std::vector<bool> charged = {};  // by chunk: ready_tables() has counted its bytes
  std::uint64_t written = 0;       // elements that have a writer
  int double_write = -1;           // index into the report's double_writes
  int shared_element = -1;         // ... and shared_elements
  int unclear_element = -1;        // ... and unclear_elements

  std::uint64_t elements() const { return (bytes + element_bytes - 1) >> element_shift; }
  // The caller needs this before it uses the tables of the elements from `from` to `to`. It returns
  // the bytes that the tables take in addition to those of earlier calls.
  std::size_t ready_tables(std::uint64_t from, std::uint64_t to) {
    const std::uint64_t chunk = from >> kChunkShift;
    if (writers != nullptr && chunk == to >> kChunkShift && charged[chunk]) [[likely]]
      return 0;
    return make_tables_ready(from, to);
  }
  std::size_t make_tables_ready(std::uint64_t from, std::uint64_t to);
};

}  // namespace tritonsmith::gym::triton_ir
