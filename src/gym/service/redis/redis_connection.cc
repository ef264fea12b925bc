#include "gym/service/redis/redis_connection.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/check.h"

namespace tritonsmith::gym::service {
namespace {

timeval timeval_of(Milliseconds span) {
  return {.tv_sec = span.count() / 1000, .tv_usec = span.count() % 1000 * 1000};
}

std::string text_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      return {reply.str, reply.len};
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    default:
      return {};
  }
}

}  // namespace

RedisReply::RedisReply(redisReply* reply) : reply_(reply) {
  CHECK(reply != nullptr, "a reply exists");
}
void RedisReply::Free::operator()(redisReply* reply) const { freeReplyObject(reply); }

bool RedisReply::is_nil() const { return reply_->type == REDIS_REPLY_NIL; }
std::string RedisReply::error() const {
  return reply_->type == REDIS_REPLY_ERROR ? std::string(reply_->str, reply_->len) : "";
}
std::int64_t RedisReply::integer() const {
  return reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0;
}
std::string RedisReply::text() const { return text_of(*reply_); }
std::size_t RedisReply::size() const {
  return reply_->type == REDIS_REPLY_ARRAY ? reply_->elements : 0;
}
const redisReply* RedisReply::at(std::size_t index) const {
  CHECK(index < size(), "member {} of a reply of {}", index, size());
  return reply_->element[index];
}
std::string RedisReply::text_at(std::size_t index) const { return text_of(*at(index)); }
std::int64_t RedisReply::integer_at(std::size_t index) const {
  const redisReply* member = at(index);
  if (member->type == REDIS_REPLY_INTEGER) return member->integer;
  return std::strtoll(text_of(*member).c_str(), nullptr, 10);
}

void RedisConnection::Free::operator()(redisContext* context) const { redisFree(context); }

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const RedisAddress& address,
                                                               Milliseconds timeout) {
  redisContext* context =
      address.host.empty()
          ? redisConnectUnixWithTimeout(address.socket.c_str(), timeval_of(timeout))
          : redisConnectWithTimeout(address.host.c_str(), address.port, timeval_of(timeout));
  CHECK(context != nullptr, "there is memory for a connection");
  std::unique_ptr<RedisConnection> connection(new RedisConnection(context, address.name()));
  if (context->err != 0) return connection->broken();
  if (redisSetTimeout(context, timeval_of(timeout)) != REDIS_OK) return connection->broken();
  if (!address.host.empty() && redisEnableKeepAlive(context) != REDIS_OK)
    return connection->broken();
  TRY(connection->sign_in(address));
  return connection;
}

Status RedisConnection::sign_in(const RedisAddress& address) {
  const auto demand = [&](const std::vector<std::string_view>& words) -> Status {
    TRY_ASSIGN(const RedisReply reply, command(words));
    if (reply.error().empty()) return ok();
    return fail("{}: {}; check the user and the password", name_, reply.error());
  };
  if (!address.user.empty())
    TRY(demand({"AUTH", address.user, address.password}));
  else if (!address.password.empty())
    TRY(demand({"AUTH", address.password}));
  if (address.database == 0) return ok();
  return demand({"SELECT", std::to_string(address.database)});
}

Result<RedisReply> RedisConnection::command(const std::vector<std::string_view>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  void* reply =
      redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
  if (reply == nullptr) return broken();
  return RedisReply(static_cast<redisReply*>(reply));
}

Result<std::string> RedisConnection::next_message() {
  while (true) {
    void* reply = nullptr;
    if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) return broken();
    if (reply != nullptr) {
      const RedisReply message(static_cast<redisReply*>(reply));
      return message.size() == 0 ? message.text() : message.text_at(0);
    }
    pollfd readable{.fd = context_->fd, .events = POLLIN, .revents = 0};
    constexpr int one_second = 1000;
    if (::poll(&readable, 1, one_second) == 0) return std::string();
    if (redisBufferRead(context_.get()) != REDIS_OK) return broken();
  }
}

void RedisConnection::shut_down() { ::shutdown(context_->fd, SHUT_RDWR); }

tl::unexpected<Error> RedisConnection::broken() const {
  return fail_by_fault("{}: {}; is the Redis server running there?", name_,
                       context_->errstr[0] != '\0' ? context_->errstr : "no connection");
}

}  // namespace tritonsmith::gym::service
