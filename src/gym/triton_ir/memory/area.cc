#include "gym/triton_ir/memory/area.h"

#include <algorithm>
#include <new>

namespace tritonsmith::gym::triton_ir {
namespace {

Area::Table make_table(std::size_t count) {
  Area::Table table(static_cast<std::uint32_t*>(std::calloc(count, sizeof(std::uint32_t))));
  if (table == nullptr) throw std::bad_alloc();  // as a vector of this size would throw
  return table;
}

}  // namespace

std::size_t Area::make_tables_ready(std::uint64_t from, std::uint64_t to) {
  if (writers == nullptr) {
    writers = make_table(elements());
    readers = make_table(elements());
    charged.resize((elements() >> kChunkShift) + 1);
  }
  std::size_t added = 0;
  for (std::uint64_t chunk = from >> kChunkShift; chunk <= to >> kChunkShift; ++chunk) {
    if (charged[chunk]) continue;
    charged[chunk] = true;
    const std::uint64_t rest = elements() - (chunk << kChunkShift);
    added +=
        2 * sizeof(std::uint32_t) * std::min<std::uint64_t>(rest, std::uint64_t{1} << kChunkShift);
  }
  return added;
}

}  // namespace tritonsmith::gym::triton_ir
