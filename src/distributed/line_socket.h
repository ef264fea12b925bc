// Carries lines of text over TCP connections. The watch over a job's processes uses them. A peer is
// untrusted until it has sent the job's token (watch.h), so lines have a length limit and nothing
// else is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace tritonsmith::distributed {

struct Listener {
  Fd socket;
  std::uint16_t port = 0;  // the kernel chooses it
};
Result<Listener> listen_anywhere();
Result<Fd> accept_from(const Fd& listener);
Result<Fd> connect_to(const std::string& host, std::uint16_t port);

// Returns the address of our end as digits. The other host reaches this host by it.
std::string own_address(const Fd& connection);
// The connection closes about 20 seconds after its host vanishes without notice.
void keep_alive(const Fd& connection);

// Returns false if the peer has closed the connection.
bool send_line(const Fd& connection, std::string_view line);

// Assembles whole lines from received bytes.
class LineReader {
 public:
  static constexpr std::size_t kLongest = 4096;
  enum class State { open, closed };
  // Reads the available bytes without waiting, and appends whole lines to `lines`.
  State read(const Fd& connection, std::vector<std::string>& lines);

 private:
  std::string rest_;
};

}  // namespace tritonsmith::distributed
