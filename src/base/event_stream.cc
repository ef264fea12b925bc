#include "base/event_stream.h"

namespace tritonsmith {

Status EventStreamReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    pending_.append(bytes.substr(0, end));
    if (pending_.size() + event_.data.size() > most_bytes_)
      return fail("an event has more than {} bytes", most_bytes_);
    if (end == std::string_view::npos) return ok();
    bytes.remove_prefix(end + 1);
    if (pending_.ends_with('\r')) pending_.pop_back();
    take_line(pending_);
    pending_.clear();
  }
  return ok();
}

void EventStreamReader::take_line(std::string_view line) {
  if (line.empty()) {
    if (!event_.data.empty()) take_(event_);
    event_ = {};
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "id") event_.id = value;
  if (name == "event") event_.type = value;
  if (name == "data") {
    if (!event_.data.empty()) event_.data += '\n';
    event_.data += value;
  }
}

}  // namespace tritonsmith
