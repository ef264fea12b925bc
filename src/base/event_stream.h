// EventStreamReader: parses server-sent events from a connection that may cut them anywhere. An
// event larger than the limit is an error, which bounds the memory. One thread uses a reader.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith {

struct ServerEvent {
  std::string id, type, data;
};

class EventStreamReader {
 public:
  using Take = std::function<void(const ServerEvent&)>;
  explicit EventStreamReader(Take take, std::size_t most_bytes = std::size_t{64} << 20)
      : take_(std::move(take)), most_bytes_(most_bytes) {}

  Status feed(std::string_view bytes);

 private:
  void take_line(std::string_view line);
  Take take_;
  std::size_t most_bytes_;
  std::string pending_;  // an unfinished line
  ServerEvent event_;
};

}  // namespace tritonsmith
