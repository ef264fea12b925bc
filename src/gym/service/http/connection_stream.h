// ConnectionStream: the bytes of one connection, for cpp-httplib and, after an upgrade, for the
// WebSocket that replaces it. One thread owns it. It neither closes nor owns the socket.
#pragma once

#include <httplib.h>

#include <string>

#include "base/clock.h"

namespace tritonsmith::gym::service {

class ConnectionStream : public httplib::Stream {
 public:
  // `patience`: how long a read or a write waits for the client.
  ConnectionStream(int socket, Milliseconds patience) : socket_(socket), patience_(patience) {}

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* bytes, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

  // From now on, what is written is dropped.
  void mute() { is_muted_ = true; }
  void unmute() { is_muted_ = false; }
  // Returns what has come already, or comes within `wait`. Returns nothing once the client has gone.
  enum class Reading { some, none, gone };
  Reading read_some(std::string& bytes, Milliseconds wait);

 private:
  bool wait_for(short event, Milliseconds wait) const;

  int socket_;
  Milliseconds patience_;
  bool is_muted_ = false;
  std::string buffer_;  // read from the socket, and not yet taken
};

}  // namespace tritonsmith::gym::service
