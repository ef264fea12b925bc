#include "gym/service/redis/tls_channel.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace tritonsmith::gym::service {
namespace {

constexpr const char* kUnreadable = "it cannot be read";

// Returns the first of OpenSSL's reasons, and forgets them all. `otherwise` is what happened if
// OpenSSL has none.
std::string reason(const char* otherwise = "the connection was closed") {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? otherwise : text;
}

bool is_ip_address(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

void TlsChannel::Free::operator()(ssl_st* channel) const { SSL_free(channel); }
void TlsChannel::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<std::unique_ptr<TlsChannel>> TlsChannel::open(int socket, const std::string& host,
                                                     const TlsFiles& files) {
  std::unique_ptr<TlsChannel> channel(new TlsChannel);
  TRY(channel->prepare(files));
  TRY(channel->shake_hands(socket, host));
  return channel;
}

Status TlsChannel::prepare(const TlsFiles& files) {
  ERR_clear_error();
  context_.reset(SSL_CTX_new(TLS_client_method()));
  CHECK(context_ != nullptr, "there is memory for a TLS context");
  SSL_CTX* context = context_.get();
  CHECK(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1, "OpenSSL knows TLS 1.2");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (files.ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1) return fail("{}", reason());
  } else if (SSL_CTX_load_verify_locations(context, files.ca.c_str(), nullptr) != 1) {
    return fail("{}: no CA certificate in PEM: {}", files.ca, reason(kUnreadable));
  }
  if (files.certificate.empty()) return ok();
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
    return fail("{}: no certificate in PEM: {}", files.certificate, reason(kUnreadable));
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return fail("{}: no key in PEM that belongs to {}: {}", files.key, files.certificate,
                reason(kUnreadable));
  return ok();
}

Status TlsChannel::shake_hands(int socket, const std::string& host) {
  channel_.reset(SSL_new(context_.get()));
  CHECK(channel_ != nullptr, "there is memory for a TLS channel");
  SSL* channel = channel_.get();
  if (is_ip_address(host)) {
    CHECK(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(channel), host.c_str()) == 1,
          "'{}' is an IP address", host);
  } else if (SSL_set1_host(channel, host.c_str()) != 1 ||
             SSL_set_tlsext_host_name(channel, host.c_str()) != 1) {
    return fail("'{}' is no name of a host", host);
  }
  if (SSL_set_fd(channel, socket) != 1) return fail_by_fault("{}", reason());
  if (SSL_connect(channel) == 1) return ok();
  const long verified = SSL_get_verify_result(channel);
  if (verified != X509_V_OK) {
    ERR_clear_error();
    return fail("the server's certificate is not trusted: {}; name its CA with ?ca=FILE",
                X509_verify_cert_error_string(verified));
  }
  return fail_by_fault("no TLS: {}; does the server speak TLS on this port?", reason());
}

Status TlsChannel::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    std::size_t written = 0;
    if (SSL_write_ex(channel_.get(), bytes.data(), bytes.size(), &written) != 1)
      return fail_by_fault("{}", reason());
    bytes.remove_prefix(written);
  }
  return ok();
}

Result<std::size_t> TlsChannel::read(std::span<char> bytes) {
  ERR_clear_error();
  std::size_t count = 0;
  const int is_read = SSL_read_ex(channel_.get(), bytes.data(), bytes.size(), &count);
  if (is_read == 1) return count;
  if (SSL_get_error(channel_.get(), is_read) == SSL_ERROR_WANT_READ) return std::size_t{0};
  return fail_by_fault("{}", reason());
}

bool TlsChannel::has_more() const { return SSL_pending(channel_.get()) > 0; }

}  // namespace tritonsmith::gym::service
