// RedisClient: runs scripts on a Redis server for many threads. It keeps connections that are free,
// and opens new ones as they are needed. When the server is away (a restart, a cut link), a call
// tries again with growing pauses, and fails after its patience. So every script may run twice for
// one call, and the scripts of redis_scripts.h allow that.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <span>

#include "gym/service/redis/redis_connection.h"

namespace tritonsmith::gym::service {

class RedisClient {
 public:
  // Every script gets `prefix` as its only key. All keys begin with it. `common` stands before
  // each script.
  RedisClient(RedisAddress address, std::string prefix, std::string common, Milliseconds patience)
      : address_(std::move(address)),
        prefix_(std::move(prefix)),
        common_(std::move(common)),
        patience_(patience) {}

  // Fails when the server stays away, refuses the sign-in or reports an error.
  Result<RedisReply> run(const char* script, std::span<const std::string> arguments);
  Result<RedisReply> run(const char* script, std::initializer_list<std::string> arguments) {
    return run(script, std::span(arguments.begin(), arguments.size()));
  }
  // Runs a command of Redis, such as {"INFO", "persistence"}.
  Result<RedisReply> command(const std::vector<std::string_view>& words);

  const RedisAddress& address() const { return address_; }

 private:
  using Attempt = std::function<Result<RedisReply>(RedisConnection&)>;
  Result<RedisReply> once(const Attempt& attempt);
  Result<RedisReply> persist(const Attempt& attempt);
  Result<std::unique_ptr<RedisConnection>> borrow();
  void give_back(std::unique_ptr<RedisConnection> connection);
  Result<RedisReply> evaluate(RedisConnection& connection, const char* script,
                              std::span<const std::string> arguments);
  std::string digest_of(const char* script);

  RedisAddress address_;
  std::string prefix_, common_;
  Milliseconds patience_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable pause_;
  std::vector<std::unique_ptr<RedisConnection>> free_;
  std::map<const char*, std::string> digests_;  // of scripts that the server has seen
};

}  // namespace tritonsmith::gym::service
