#include "gym/service/http/upgrading_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/check.h"
#include "gym/service/http/connection_stream.h"

namespace tritonsmith::gym::service {
namespace {

// The connection that this thread serves. Each connection has a thread.
thread_local ConnectionStream* serving_stream = nullptr;
thread_local std::optional<Upgrade> upgraded;

bool send_all(std::string_view bytes, ConnectionStream& stream) {
  while (!bytes.empty()) {
    const ssize_t count = static_cast<httplib::Stream&>(stream).write(bytes.data(), bytes.size());
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Answers what a message asks of the protocol itself. Returns false at the end.
bool take_message(const WebSocketMessage& message, WebSocketSession& session,
                  ConnectionStream& stream) {
  if (message.opcode == Opcode::text) session.take(message.payload);
  if (message.opcode == Opcode::ping)
    return send_all(web_socket_frame(Opcode::pong, message.payload), stream);
  if (message.opcode != Opcode::close) return true;
  send_all(web_socket_close(CloseCode::normal, ""), stream);
  return false;
}

// Takes the messages that have come. Returns false at the end.
bool take_messages(WebSocketReader& reader, WebSocketSession& session, ConnectionStream& stream) {
  while (const auto message = reader.next())
    if (!take_message(*message, session, stream)) return false;
  if (!reader.fault()) return true;
  send_all(web_socket_close(*reader.fault(), "the frames break the protocol"), stream);
  return false;
}

// While the session is busy, this looks for frames now and then: a client that pings or closes must
// not wait for a verdict.
void serve_web_socket(ConnectionStream& stream, WebSocketSession& session,
                      std::size_t message_bytes) {
  constexpr Milliseconds busy_wait{100}, idle_wait{1000};
  constexpr double longest_silence_ms = 3.6e6;
  WebSocketReader reader(message_bytes);
  TimePoint heard = system_clock().now();
  std::string bytes;
  while (!session.is_over() && milliseconds_since(heard) < longest_silence_ms) {
    bytes.clear();
    const auto reading = stream.read_some(bytes, session.is_busy() ? Milliseconds(0) : idle_wait);
    if (reading == ConnectionStream::Reading::gone) return;
    if (reading == ConnectionStream::Reading::some) heard = system_clock().now();
    reader.feed(bytes);
    if (!take_messages(reader, session, stream)) return;
    if (!session.is_busy()) continue;
    const auto text = session.next(busy_wait);
    if (text && !send_all(web_socket_frame(Opcode::text, *text), stream)) return;
  }
  send_all(web_socket_close(CloseCode::going_away, ""), stream);
}

}  // namespace

void UpgradingServer::upgrade(Upgrade upgrade) {
  CHECK(serving_stream != nullptr, "no connection of this server asks");
  serving_stream->mute();  // the library's reply would close the connection
  upgraded = std::move(upgrade);
}

bool UpgradingServer::has_client() {
  CHECK(serving_stream != nullptr, "no connection of this server asks");
  return serving_stream->is_writable();
}

bool UpgradingServer::process_and_close_socket(socket_t socket) {
  ConnectionStream stream(socket, patience_);
  serving_stream = &stream;
  bool is_closed = false;
  const bool done =
      stream.is_readable() && process_request(stream, true, is_closed, [](httplib::Request&) {});
  serving_stream = nullptr;
  if (const auto taken = std::exchange(upgraded, std::nullopt)) {
    stream.unmute();
    if (send_all("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Accept: " +
                     taken->accept + "\r\n\r\n",
                 stream))
      serve_web_socket(stream, *taken->session, message_bytes_);
    taken->at_end();
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return done;
}

}  // namespace tritonsmith::gym::service
