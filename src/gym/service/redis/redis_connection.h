// RedisConnection: one connection to a Redis server, with the protocol's replies as values. One
// thread at a time uses it. A connection that failed once is of no further use: the caller opens
// another one (redis_client.h does).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "gym/service/redis/tls_channel.h"

// NOLINTBEGIN(readability-identifier-naming): hiredis has these names
struct redisContext;
struct redisReply;
// NOLINTEND(readability-identifier-naming)

namespace tritonsmith::gym::service {

// Where a Redis server listens, and how a client signs in.
struct RedisAddress {
  std::string host;  // empty: the server listens on `socket`
  int port = 6379;
  std::string socket;  // a file
  std::string user, password;
  int database = 0;
  bool is_encrypted = false;  // the server speaks TLS
  TlsFiles tls;

  // For messages: "redis://host:6379/0". It never holds the password.
  std::string name() const;
};
// Reads redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE] and unix:FILE. The scheme rediss:// is for
// TLS, and its options ?ca=FILE&cert=FILE&key=FILE name the files of TlsFiles. A user, a password,
// a host or a file may hold escapes such as %40.
Result<RedisAddress> parse_redis_address(std::string_view text);

// A reply of the server. An error reply is a value too, because the caller may know what to do.
class RedisReply {
 public:
  explicit RedisReply(redisReply* reply);

  bool is_nil() const;
  std::string error() const;  // empty: the reply is no error
  std::int64_t integer() const;
  std::string text() const;  // of a string, a status or an integer; empty for nil
  std::size_t size() const;  // the members of an array; 0 for anything else
  // The member of an array. Aborts beyond its size.
  const redisReply* at(std::size_t index) const;
  std::string text_at(std::size_t index) const;
  std::int64_t integer_at(std::size_t index) const;

 private:
  struct Free {
    void operator()(redisReply* reply) const;
  };
  std::unique_ptr<redisReply, Free> reply_;
};

class RedisConnection {
 public:
  // Connects, signs in and chooses the database. Each wait ends after `timeout`.
  static Result<std::unique_ptr<RedisConnection>> open(const RedisAddress& address,
                                                       Milliseconds timeout);

  // Sends a command and waits for its reply. Fails when the connection is broken.
  Result<RedisReply> command(const std::vector<std::string_view>& words);

  // For listeners: waits until the server sends something, or until the timeout of the connection.
  // Returns nothing ("") in that case.
  Result<std::string> next_message();
  // Breaks the connection from another thread: a wait in it ends at once.
  void shut_down();

 private:
  struct Free {
    void operator()(redisContext* context) const;
  };
  RedisConnection(redisContext* context, std::string name)
      : context_(context), name_(std::move(name)) {}
  Status encrypt(const RedisAddress& address);
  Status sign_in(const RedisAddress& address);
  // Moves bytes between the server and hiredis, which knows no TLS.
  Status send(const std::vector<const char*>& texts, const std::vector<std::size_t>& sizes);
  Status receive();
  bool has_more() const { return channel_ && channel_->has_more(); }
  tl::unexpected<Error> broken(std::string_view why = "") const;

  std::unique_ptr<redisContext, Free> context_;
  std::unique_ptr<TlsChannel> channel_;  // none: the link is not encrypted
  std::string name_;
};

}  // namespace tritonsmith::gym::service
