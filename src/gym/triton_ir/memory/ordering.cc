#include "gym/triton_ir/memory/ordering.h"

#include <algorithm>

#include "base/check.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr Epoch kLastEpoch = 2'000'000'000;  // no budget lasts this long
constexpr std::size_t kMaxKnown = 256;       // releases known to one program
constexpr std::size_t kMaxKept = 4'000'000;  // entries of all locations
constexpr int kMaxSteps = 1000;              // from an epoch to the release in question

// Both lists are sorted by location.
void join(Ordering::Known& known, const Ordering::Known& other) {
  for (const auto& [location, releases] : other) {
    auto found = std::ranges::lower_bound(known, location, {}, &Ordering::Known::value_type::first);
    if (found == known.end() || found->first != location)
      known.insert(found, {location, releases});
    else
      found->second = std::max(found->second, releases);
  }
}

}  // namespace

void Ordering::start(std::uint32_t program) {
  now_ = {.program = program};
  now_.epoch = begin_epoch();
}

void Ordering::resume(Program program) {
  now_ = std::move(program);
  if (now_.epoch > forgotten_) return;
  now_.known.clear();
  now_.epoch = begin_epoch();
}

Epoch Ordering::begin_epoch() {
  if (entries_.size() >= kMaxEntries) forget();
  CHECK(forgotten_ < kLastEpoch, "a launch of {} epochs", forgotten_);
  entries_.push_back({.program = now_.program});
  return forgotten_ + static_cast<Epoch>(entries_.size());
}

void Ordering::forget() {
  forgotten_ += static_cast<Epoch>(entries_.size());
  entries_.clear();
  locations_.clear();
  by_address_.clear();
  now_.known.clear();
  kept_ = 0;
}

std::int32_t Ordering::location_of(std::int64_t address) {
  const auto [found, is_new] =
      by_address_.try_emplace(key_of(address), static_cast<std::int32_t>(locations_.size()));
  if (is_new) locations_.emplace_back();
  return found->second;
}

void Ordering::acquire(std::int64_t address) {
  const auto found = by_address_.find(key_of(address));
  if (found == by_address_.end()) return;
  const Location& location = locations_[static_cast<std::size_t>(found->second)];
  join(now_.known, {{found->second, location.releases}});
  join(now_.known, location.known);
  if (now_.known.size() > kMaxKnown) coarsen();
}

void Ordering::coarsen() {
  grain_ = Grain::coarse;
  forget();
  now_.epoch = begin_epoch();
}

void Ordering::release(std::int64_t address) {
  const std::int32_t index = location_of(address);
  Location& location = locations_[static_cast<std::size_t>(index)];
  Entry& ended = entries_[now_.epoch - forgotten_ - 1];
  ended.location = index;
  ended.position = location.releases++;
  kept_ -= location.known.size();
  join(location.known, now_.known);
  kept_ += location.known.size();
  if (kept_ > kMaxKept) {
    coarsen();
    return;
  }
  const Epoch before = now_.epoch;
  now_.epoch = begin_epoch();
  if (before > forgotten_) entries_[before - forgotten_ - 1].next = now_.epoch;
}

bool Ordering::is_known(Epoch epoch) const {
  if (epoch <= forgotten_) return true;
  const Entry* entry = &at(epoch);
  if (entry->program == now_.program) return true;
  for (int step = 0; step < kMaxSteps; ++step) {
    const auto found =
        std::ranges::lower_bound(now_.known, entry->location, {}, &Known::value_type::first);
    if (found != now_.known.end() && found->first == entry->location &&
        found->second > entry->position)
      return true;
    if (entry->next == 0) return false;
    entry = &at(entry->next);
  }
  return true;
}

}  // namespace tritonsmith::gym::triton_ir
