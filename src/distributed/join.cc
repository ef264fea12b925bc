#include "distributed/join.h"

#include <unistd.h>

#include <array>

#include "base/hash.h"
#include "distributed/group_ranks.h"

namespace tritonsmith::distributed {
namespace {

std::string self() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("on {}, process {}", host.data(), ::getpid());
}

Result<std::string> fresh_token() {
  std::array<char, 16> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) return fail_errno("cannot draw a token");
  return content_key(std::string_view(bytes.data(), bytes.size())).substr(0, 32);
}

struct Watched {
  std::unique_ptr<Watch> watch;
  std::string address;  // by which other hosts reach this one; empty if unknown
};

Result<Watched> watch_over_others(JobStore& store, const JoinOptions& options, int size) {
  TRY_ASSIGN(Listener listener, listen_anywhere());
  TRY_ASSIGN(const std::string token, fresh_token());
  TRY(store.set("watch", fmt::format("{} {}", listener.port, token)));
  TRY_ASSIGN(auto watch,
             Watch::of_first(
                 {.rank = 0, .size = size, .token = token, .self = self(), .grace = options.grace},
                 std::move(listener)));
  return Watched{.watch = std::move(watch), .address = {}};
}

Result<Watched> be_watched(JobStore& store, const LaunchInfo& launch, const JoinOptions& options) {
  const auto found = store.get("watch");
  if (!found)
    return fail_by_fault("rank 0 did not come within {} s ({})",
                         std::chrono::duration_cast<std::chrono::seconds>(options.join).count(),
                         found.error().message);
  const std::size_t space = std::min(found->find(' '), found->size() - 1);
  const auto port = static_cast<std::uint16_t>(std::strtoul(found->c_str(), nullptr, 10));
  TRY_ASSIGN(Fd connection, connect_to(launch.host, port));
  std::string address = own_address(connection);
  TRY_ASSIGN(auto watch, Watch::of_other({.rank = launch.rank,
                                          .size = launch.size,
                                          .token = found->substr(space + 1),
                                          .self = self(),
                                          .grace = options.grace},
                                         std::move(connection)));
  return Watched{.watch = std::move(watch), .address = std::move(address)};
}

}  // namespace

Result<std::unique_ptr<Ranks>> join(const LaunchInfo& launch, const JoinOptions& options) {
  if (launch.is_alone()) return alone();
  TRY_ASSIGN(JobStore store, JobStore::open(launch, options.join));
  TRY_ASSIGN(Watched watched, launch.rank == 0 ? watch_over_others(store, options, launch.size)
                                               : be_watched(store, launch, options));
  // Rank 0 knows which ranks are missing. The others wait a little longer for its answer.
  const auto patience = options.join + std::chrono::seconds(launch.rank == 0 ? 0 : 5);
  if (const Status joined = watched.watch->wait_for_all(Deadline::after(patience)); !joined) {
    watched.watch->fail_for(joined.error());
    return tl::unexpected(joined.error());
  }
  // Processes on one host need no network. Between hosts the address towards rank 0 serves, unless
  // it is a loopback address.
  std::string address = launch.spans_hosts() ? watched.address : "127.0.0.1";
  if (address.starts_with("127.") || address == "::1")
    address = launch.spans_hosts() ? "" : address;
  auto gloo = Gloo::connect(store, launch, address, 2 * options.operation);
  if (!gloo) {
    const auto lost = watched.watch->lost();
    if (lost) return tl::unexpected(*lost);
    const Error error = gloo.error().within("connecting the ranks");
    watched.watch->fail_for(error);
    return tl::unexpected(error);
  }
  std::unique_ptr<Ranks> ranks = std::make_unique<GroupRanks>(
      launch,
      GroupRanks::Parts{
          .store = std::move(store), .watch = std::move(watched.watch), .gloo = *std::move(gloo)},
      options.operation);
  return ranks;
}

}  // namespace tritonsmith::distributed
