#include <charconv>

#include "gym/service/redis/redis_connection.h"

namespace tritonsmith::gym::service {
namespace {

Result<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '%') {
      out += text[k];
      continue;
    }
    unsigned byte = 0;
    const char* begin = text.data() + k + 1;
    const bool is_whole = k + 2 < text.size();
    if (!is_whole || std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2)
      return fail("'%' must begin an escape such as %40");
    out += static_cast<char>(byte);
    k += 2;
  }
  return out;
}

Result<int> number_of(std::string_view text, int most) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size() || number < 0 ||
      number > most)
    return fail("'{}' is no number from 0 to {}", text, most);
  return number;
}

Status read_sign_in(std::string_view text, RedisAddress& address) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return fail("a password follows ':', as in :SECRET@HOST");
  TRY_ASSIGN(address.user, unescaped(text.substr(0, colon)));
  TRY_ASSIGN(address.password, unescaped(text.substr(colon + 1)));
  return ok();
}

Status read_host(std::string_view text, RedisAddress& address) {
  std::size_t host_end = text.find(':');
  if (text.starts_with('[')) {  // an IPv6 address
    host_end = text.find(']');
    if (host_end == std::string_view::npos) return fail("']' is missing after the host");
    address.host = text.substr(1, host_end - 1);
    ++host_end;
  } else {
    TRY_ASSIGN(address.host, unescaped(text.substr(0, host_end)));
  }
  if (address.host.empty()) return fail("the host is missing");
  if (host_end >= text.size()) return ok();
  if (text[host_end] != ':') return fail("':PORT' is expected after the host");
  TRY_ASSIGN(address.port, number_of(text.substr(host_end + 1), 65535));
  return ok();
}

// Reads ca=FILE&cert=FILE&key=FILE.
Status read_options(std::string_view text, RedisAddress& address) {
  while (!text.empty()) {
    const std::string_view option = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), option.size() + 1));
    const std::string_view name = option.substr(0, option.find('='));
    std::string* const file = name == "ca"     ? &address.tls.ca
                              : name == "cert" ? &address.tls.certificate
                              : name == "key"  ? &address.tls.key
                                               : nullptr;
    if (file == nullptr || name.size() + 1 >= option.size())
      return fail("the options after '?' are ca=FILE, cert=FILE and key=FILE");
    TRY_ASSIGN(*file, unescaped(option.substr(name.size() + 1)));
  }
  if (!address.is_encrypted) return fail("ca, cert and key are for rediss://, which speaks TLS");
  if (address.tls.certificate.empty() != address.tls.key.empty())
    return fail("cert and key belong together");
  return ok();
}

Result<RedisAddress> read_url(std::string_view text, bool is_encrypted) {
  RedisAddress address;
  address.is_encrypted = is_encrypted;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    TRY(read_sign_in(text.substr(0, at), address));
    text = text.substr(at + 1);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    TRY(read_options(text.substr(mark + 1), address));
    text = text.substr(0, mark);
  }
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view database = text.substr(slash + 1);
    if (!database.empty()) {
      TRY_ASSIGN(address.database, number_of(database, 1 << 20));
    }
    text = text.substr(0, slash);
  }
  TRY(read_host(text, address));
  return address;
}

}  // namespace

std::string RedisAddress::name() const {
  if (host.empty()) return fmt::format("unix:{}", socket);
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return fmt::format("redis{}://{}{}{}:{}/{}", is_encrypted ? "s" : "", is_ipv6 ? "[" : "", host,
                     is_ipv6 ? "]" : "", port, database);
}

// The message repeats nothing of the text, which may hold a password.
Result<RedisAddress> parse_redis_address(std::string_view text) {
  constexpr std::string_view scheme = "redis://", encrypted = "rediss://", socket = "unix:";
  if (text.starts_with(socket) && text.size() > socket.size())
    return RedisAddress{.socket = std::string(text.substr(socket.size()))};
  const bool is_encrypted = text.starts_with(encrypted);
  if (!is_encrypted && !text.starts_with(scheme))
    return fail(
        "the address of a Redis server is redis://HOST:PORT, rediss://HOST:PORT for TLS, "
        "or unix:FILE");
  auto address =
      read_url(text.substr(is_encrypted ? encrypted.size() : scheme.size()), is_encrypted);
  if (!address)
    return tl::unexpected(address.error().within(
        is_encrypted ? "rediss://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?ca=FILE]"
                     : "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]"));
  return address;
}

}  // namespace tritonsmith::gym::service
