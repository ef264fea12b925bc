#include "distributed/peers.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tritonsmith::distributed {

std::string name_of_rank(int rank, int size, std::string_view self) {
  std::string name = fmt::format("rank {} of {}", rank, size);
  if (!self.empty()) name += fmt::format(" ({})", self);
  return name;
}

Peer& Peers::add(Fd connection, int rank) {
  auto peer = std::make_unique<Peer>();
  peer->connection = std::move(connection);
  peer->rank = rank;
  peers_.push_back(std::move(peer));
  return *peers_.back();
}

void Peers::drop_closed() {
  std::erase_if(peers_, [](const auto& peer) { return peer->is_closed; });
}

bool Peers::has(int rank) const {
  return std::ranges::any_of(peers_, [&](const auto& peer) { return peer->rank == rank; });
}

bool Peers::are_complete() const {
  const auto known =
      std::ranges::count_if(peers_, [](const auto& peer) { return peer->rank >= 0; });
  return known + 1 >= size_;
}

std::string Peers::missing() const {
  std::vector<std::string> names;
  for (int rank = 1; rank < size_; ++rank)
    if (!has(rank)) names.push_back(name_of_rank(rank, size_));
  return fmt::format("{}", fmt::join(names, " and "));
}

std::string Peers::behind(std::uint64_t number) const {
  std::vector<std::string> names;
  for (const auto& peer : peers_)
    if (peer->rank > 0 && peer->number < number)
      names.push_back(name_of_rank(peer->rank, size_, peer->self));
  return fmt::format("{}", fmt::join(names, " and "));
}

void Peers::tell_all(std::string_view line) {
  for (const auto& peer : peers_)
    if (peer->rank >= 0 && !peer->has_left && !peer->is_closed) send_line(peer->connection, line);
}

}  // namespace tritonsmith::distributed
