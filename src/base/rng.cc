#include "base/rng.h"

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>

#include "base/check.h"
#include "base/hash.h"

namespace tritonsmith {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014), which passes BigCrush on a counter.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t run_seed, std::string_view purpose, std::uint64_t index) {
  const Digest digest = sha256(fmt::format("{}/{}/{}", run_seed, purpose, index));
  std::memcpy(&key_, digest.data(), sizeof key_);
}

std::uint64_t Rng::next_u64() { return mix(key_ ^ mix(counter_++)); }

double Rng::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::below(std::uint64_t bound) {
  CHECK(bound > 0, "below(0) has no answer");
  const std::uint64_t limit =
      -bound % bound;  // 2^64 mod bound. Draws below it would favour small values.
  for (;;) {
    if (const std::uint64_t draw = next_u64(); draw >= limit) return draw % bound;
  }
}

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace tritonsmith
