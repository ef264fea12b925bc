// TlsChannel: an encrypted channel over a connected socket, for RedisConnection. The server must
// show a certificate for the address's host that the CA file, or else this system, trusts. One
// thread at a time uses it. The socket's timeouts hold, and the socket stays its owner's.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

// NOLINTBEGIN(readability-identifier-naming): OpenSSL has these names
struct ssl_st;
struct ssl_ctx_st;
// NOLINTEND(readability-identifier-naming)

namespace tritonsmith::gym::service {

// The files are PEM.
struct TlsFiles {
  std::string ca;                // empty: what this system trusts
  std::string certificate, key;  // of the client, for servers that ask for one; empty: none
};

class TlsChannel {
 public:
  // Shakes hands. An error of kind input names a file or a certificate that is not right. Other
  // errors may pass.
  static Result<std::unique_ptr<TlsChannel>> open(int socket, const std::string& host,
                                                  const TlsFiles& files);

  Status write(std::string_view bytes);
  // Waits for bytes and returns how many it read: 0 if none came within the socket's timeout. Fails
  // when the connection is closed.
  Result<std::size_t> read(std::span<char> bytes);
  // Tells whether bytes have arrived that read() has not returned yet. The socket hides these.
  bool has_more() const;

 private:
  struct Free {
    void operator()(ssl_st* channel) const;
    void operator()(ssl_ctx_st* context) const;
  };
  TlsChannel() = default;
  Status prepare(const TlsFiles& files);
  Status shake_hands(int socket, const std::string& host);

  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::unique_ptr<ssl_st, Free> channel_;
};

}  // namespace tritonsmith::gym::service
