#include "gym/service/redis/redis_connection.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

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
  if (address.is_encrypted) TRY(connection->encrypt(address));
  TRY(connection->sign_in(address));
  return connection;
}

Status RedisConnection::encrypt(const RedisAddress& address) {
  auto channel = TlsChannel::open(context_->fd, address.host, address.tls);
  if (!channel) return tl::unexpected(channel.error().within(name_));
  channel_ = *std::move(channel);
  return ok();
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
  TRY(send(texts, sizes));
  void* reply = nullptr;
  while (true) {
    if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) return broken();
    if (reply != nullptr) return RedisReply(static_cast<redisReply*>(reply));
    TRY(receive());
  }
}

Status RedisConnection::send(const std::vector<const char*>& texts,
                             const std::vector<std::size_t>& sizes) {
  const auto count = static_cast<int>(texts.size());
  std::vector<const char*> words = texts;  // hiredis takes no pointers to const
  if (!channel_) {
    if (redisAppendCommandArgv(context_.get(), count, words.data(), sizes.data()) != REDIS_OK)
      return broken();
    for (int is_done = 0; is_done == 0;)
      if (redisBufferWrite(context_.get(), &is_done) != REDIS_OK) return broken();
    return ok();
  }
  char* command = nullptr;
  const int size = redisFormatCommandArgv(&command, count, words.data(), sizes.data());
  CHECK(size >= 0, "there is memory for a command");
  const Status sent = channel_->write({command, static_cast<std::size_t>(size)});
  redisFreeCommand(command);
  return sent ? ok() : broken(sent.error().message);
}

Status RedisConnection::receive() {
  if (!channel_) {
    if (redisBufferRead(context_.get()) != REDIS_OK) return broken();
    return ok();
  }
  std::array<char, 1 << 14> bytes{};
  const auto count = channel_->read(bytes);
  if (!count) return broken(count.error().message);
  if (*count == 0) return broken("no reply within the timeout");
  if (redisReaderFeed(context_->reader, bytes.data(), *count) != REDIS_OK) return broken();
  return ok();
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
    if (!has_more() && ::poll(&readable, 1, one_second) == 0) return std::string();
    TRY(receive());
  }
}

void RedisConnection::shut_down() { ::shutdown(context_->fd, SHUT_RDWR); }

tl::unexpected<Error> RedisConnection::broken(std::string_view why) const {
  if (why.empty()) why = context_->errstr[0] != '\0' ? context_->errstr : "no connection";
  return fail_by_fault("{}: {}; is the Redis server running there?", name_, why);
}

}  // namespace tritonsmith::gym::service
