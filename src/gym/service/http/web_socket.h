// Speaks WebSocket (RFC 6455) as a server: the handshake and the frames, without sockets. Clients'
// bytes are hostile. One thread owns a reader. No extension and no subprotocol is spoken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "gym/service/http_call.h"

namespace tritonsmith::gym::service {

enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10
};

// The codes of RFC 6455, 7.4.1, that a server here sends.
enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  no_text = 1003,
  not_utf8 = 1007,
  too_large = 1009
};

// Returns the value of Sec-WebSocket-Accept. Fails if the call is no handshake of this protocol.
Result<std::string> web_socket_accept(const HttpCall& call);

// One frame, as a server sends it.
std::string web_socket_frame(Opcode opcode, std::string_view payload);
std::string web_socket_close(CloseCode code, std::string_view reason);

// A whole message of the client, put together from its frames: text, ping, pong or close.
struct WebSocketMessage {
  Opcode opcode = Opcode::text;
  std::string payload;
};

class WebSocketReader {
 public:
  explicit WebSocketReader(std::size_t message_bytes) : message_bytes_(message_bytes) {}

  void feed(std::string_view bytes) { buffer_ += bytes; }
  // Returns the next message, or nothing until more bytes come, or after a fault.
  std::optional<WebSocketMessage> next();
  // Why the connection must end, once the client broke the protocol.
  std::optional<CloseCode> fault() const { return fault_; }

 private:
  struct Frame {
    bool is_final = false;
    Opcode opcode = Opcode::continuation;
    std::string payload;
  };
  std::optional<Frame> next_frame();
  std::optional<WebSocketMessage> add(Frame frame);
  std::nullopt_t fail_with(CloseCode code);

  std::size_t message_bytes_;
  std::string buffer_;
  std::optional<std::string> fragments_;  // of an unfinished message
  std::optional<CloseCode> fault_;
};

}  // namespace tritonsmith::gym::service
