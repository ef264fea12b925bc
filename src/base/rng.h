// Rng: every random choice of the program comes from Rng(run_seed, purpose, index). A resumed run
// therefore makes the same choices without saving the state of a generator. The generator is
// counter-based: draw k is a hash of (key, k). It costs one SHA-256 to make and is safe to copy. It
// must not make secrets; hash.h has HMAC for them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace tritonsmith {

class Rng {
 public:
  Rng(std::uint64_t run_seed, std::string_view purpose, std::uint64_t index);

  std::uint64_t next_u64();
  // Uniform in [0, 1), 53 bits.
  double uniform();
  // Uniform in [0, bound) without bias; bound must be above 0.
  std::uint64_t below(std::uint64_t bound);
  // Standard normal (Box-Muller).
  double normal();

  // Shuffles any random-access container (Fisher-Yates).
  template <typename Container>
  void shuffle(Container& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[below(i)]);
    }
  }
  template <typename Container>
  const auto& pick(const Container& items) {
    return items[below(items.size())];
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace tritonsmith
