// UpgradingServer: cpp-httplib's server, which knows no WebSocket, with connections that become one.
// The thread of a connection first serves its request. If the handler called upgrade(), the thread
// then sends the handshake in place of the handler's reply, and serves the WebSocket. A handler that
// waits can ask whether its client is still there.
#pragma once

#include <httplib.h>

#include <functional>
#include <memory>
#include <string>

#include "gym/service/http/web_socket.h"

namespace tritonsmith::gym::service {

struct Upgrade {
  std::string accept;  // web_socket_accept
  std::shared_ptr<WebSocketSession> session;
  std::function<void()> at_end;
};

class UpgradingServer : public httplib::Server {
 public:
  // `idle_seconds`: how long a client may neither send its request nor read.
  UpgradingServer(int idle_seconds, std::size_t message_bytes)
      : patience_(std::chrono::seconds(idle_seconds)), message_bytes_(message_bytes) {}

  // A handler calls it in place of setting a body.
  static void upgrade(Upgrade upgrade);
  // Says whether the client is still there whose request the calling handler serves.
  static bool has_client();

 private:
  bool process_and_close_socket(socket_t socket) override;

  Milliseconds patience_;
  std::size_t message_bytes_;
};

}  // namespace tritonsmith::gym::service
