// TCP connections that carry lines of text: what the watch over a job's processes is made of.
// Whoever connects is a stranger until it has shown the job's token (watch.h), so lines are short
// and nothing else is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace tritonsmith::distributed {

struct Listener {
  Fd socket;
  std::uint16_t port = 0;  // chosen by the kernel
};
Result<Listener> listen_anywhere();
Result<Fd> accept_from(const Fd& listener);
Result<Fd> connect_to(const std::string& host, std::uint16_t port);

// The address of our end, as digits: how this host is reached by the other one.
std::string own_address(const Fd& connection);
// A host that vanishes without a word is noticed after about 20 seconds.
void keep_alive(const Fd& connection);

// False: nobody is there any more.
bool send_line(const Fd& connection, std::string_view line);

// Whole lines from what has arrived.
class LineReader {
 public:
  static constexpr std::size_t kLongest = 4096;
  enum class State { open, closed };
  // Reads what is there without waiting, and adds whole lines to `lines`.
  State read(const Fd& connection, std::vector<std::string>& lines);

 private:
  std::string rest_;
};

}  // namespace tritonsmith::distributed
