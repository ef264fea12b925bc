// HiddenStores: the stores of the running program that its other lanes do not see yet. On a GPU, lanes
// are spread over threads. A thread sees what another one stored for certain only after both met at a
// barrier. Only the order `lanes_apart` needs this.
//
// Two accesses with as many elements are taken to spread their elements over threads alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>

namespace tritonsmith::gym::triton_ir {

// One element of an access.
struct Lane {
  std::uint32_t number = 0, count = 1;
  bool operator==(const Lane&) const = default;
};

class HiddenStores {
 public:
  // The lane is about to store to this address, which holds `before`.
  void add(std::int64_t address, const std::byte* before, std::size_t bytes, Lane lane) {
    const auto [found, is_new] = stores_.try_emplace(address);
    if (is_new) std::memcpy(found->second.before.data(), before, bytes);
    found->second.bytes = bytes;
    found->second.lane = lane;
  }
  // Returns what a lane may still find at this address, or null if it is what memory holds.
  const std::byte* seen_by(std::int64_t address, std::size_t bytes, Lane lane) const {
    const auto found = stores_.find(address);
    const bool is_hidden =
        found != stores_.end() && found->second.bytes == bytes && !(found->second.lane == lane);
    return is_hidden ? found->second.before.data() : nullptr;
  }
  void show_all() { stores_.clear(); }

 private:
  struct Store {
    std::array<std::byte, 8> before = {};
    std::size_t bytes = 0;
    Lane lane;
  };
  std::unordered_map<std::int64_t, Store> stores_;  // by address
};

}  // namespace tritonsmith::gym::triton_ir
