// Peers: the other ranks to which a process has a connection, and what each has said. Rank 0 has a
// connection to every other rank, and the others have one to rank 0. The lock of the watch guards it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/line_socket.h"

namespace tritonsmith::distributed {

struct Peer {
  Fd connection;
  LineReader reader;
  int rank = -1;  // -1 until the peer has sent it
  std::string self;
  std::uint64_t number = 0;  // the last operation that it reached
  bool has_left = false, is_closed = false;
};

// Returns "rank 3 of 8 (on node7, process 1234)". `self` may be empty.
std::string name_of_rank(int rank, int size, std::string_view self = {});

class Peers {
 public:
  // `size` is the number of ranks, this one included.
  explicit Peers(int size) : size_(size) {}

  Peer& add(Fd connection, int rank = -1);
  // Removes the peers whose connection is closed.
  void drop_closed();
  const std::vector<std::unique_ptr<Peer>>& all() const { return peers_; }

  bool has(int rank) const;
  // Says whether every other rank has sent its number.
  bool are_complete() const;
  // Returns the ranks that have not sent their number, as "rank 1 of 2 and rank 3 of 4".
  std::string missing() const;
  // Returns the ranks that have not reached that operation. Empty: there is none.
  std::string behind(std::uint64_t number) const;
  // Sends the line to all known peers that have not left.
  void tell_all(std::string_view line);

 private:
  int size_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace tritonsmith::distributed
