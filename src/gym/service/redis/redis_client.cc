#include "gym/service/redis/redis_client.h"

#include <algorithm>
#include <array>

namespace tritonsmith::gym::service {
namespace {

constexpr Milliseconds kTimeout = std::chrono::seconds(10);
constexpr std::size_t kMostFree = 64;

// The server is on its way up, or another one is about to replace it.
bool is_passing(const std::string& error) {
  constexpr std::array<std::string_view, 6> kinds = {"LOADING",  "BUSY",     "MASTERDOWN",
                                                     "READONLY", "TRYAGAIN", "CLUSTERDOWN"};
  return std::ranges::any_of(kinds, [&](std::string_view kind) { return error.starts_with(kind); });
}

bool is_unknown_script(const std::string& error) { return error.starts_with("NOSCRIPT"); }

}  // namespace

Result<RedisReply> RedisClient::run(const char* script, std::span<const std::string> arguments) {
  return persist(
      [&](RedisConnection& connection) { return evaluate(connection, script, arguments); });
}

Result<RedisReply> RedisClient::command(const std::vector<std::string_view>& words) {
  return persist([&](RedisConnection& connection) { return connection.command(words); });
}

Result<RedisReply> RedisClient::once(const Attempt& attempt) {
  TRY_ASSIGN(auto connection, borrow());
  TRY_ASSIGN(RedisReply reply, attempt(*connection));
  give_back(std::move(connection));
  return reply;
}

Result<RedisReply> RedisClient::persist(const Attempt& attempt) {
  const Deadline deadline = Deadline::after(patience_);
  Milliseconds pause = std::chrono::milliseconds(10);
  while (true) {
    Result<RedisReply> reply = once(attempt);
    const std::string error = reply ? reply->error() : "";
    if (reply && !is_passing(error)) {
      if (error.empty()) return reply;
      return fail_by_fault("{}: {}", address_.name(), error);
    }
    // An error of kind input is a refused sign-in. Other errors may pass.
    if (!reply && reply.error().kind == ErrorKind::input) return reply;
    if (deadline.passed()) {
      if (!reply) return reply;
      return fail_by_fault("{}: {}", address_.name(), error);
    }
    std::unique_lock lock(mutex_);
    free_.clear();  // those broke with this one
    pause_.wait_until(lock, std::min(deadline.at(), Deadline::after(pause).at()));
    pause = std::min<Milliseconds>(2 * pause, std::chrono::seconds(1));
  }
}

Result<std::unique_ptr<RedisConnection>> RedisClient::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto connection = std::move(free_.back());
      free_.pop_back();
      return connection;
    }
  }
  return RedisConnection::open(address_, kTimeout);
}

void RedisClient::give_back(std::unique_ptr<RedisConnection> connection) {
  const std::lock_guard lock(mutex_);
  if (free_.size() < kMostFree) free_.push_back(std::move(connection));
}

std::string RedisClient::digest_of(const char* script) {
  const std::lock_guard lock(mutex_);
  return digests_[script];
}

// Sends a script's digest, and the script itself only to a server that has not seen it yet.
Result<RedisReply> RedisClient::evaluate(RedisConnection& connection, const char* script,
                                         std::span<const std::string> arguments) {
  std::string digest = digest_of(script);
  std::vector<std::string_view> words = {"EVALSHA", digest, "1", prefix_};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (!digest.empty()) {
    TRY_ASSIGN(RedisReply reply, connection.command(words));
    if (!is_unknown_script(reply.error())) return reply;
  }
  TRY_ASSIGN(const RedisReply loaded, connection.command({"SCRIPT", "LOAD", common_ + script}));
  if (!loaded.error().empty()) return fail_by_fault("{}: {}", address_.name(), loaded.error());
  digest = loaded.text();
  {
    const std::lock_guard lock(mutex_);
    digests_[script] = digest;
  }
  words[1] = digest;
  return connection.command(words);
}

}  // namespace tritonsmith::gym::service
