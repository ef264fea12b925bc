#include "gym/service/http/web_socket.h"

#include <openssl/evp.h>

#include <array>

#include "base/base64.h"
#include "base/check.h"

namespace tritonsmith::gym::service {
namespace {

constexpr std::size_t kKeyBytes = 16, kMaskBytes = 4, kLongestControl = 125;
constexpr std::size_t kTwoByteLength = 126, kEightByteLength = 127;

std::string sha1(std::string_view bytes) {
  std::array<unsigned char, 20> digest{};
  unsigned size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr);
  CHECK(done == 1 && size == digest.size(), "SHA-1 gave {} bytes", size);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Checks UTF-8 as RFC 3629 has it: no surrogates, no overlong forms, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || i + more > text.size()) return false;
    const auto second = static_cast<unsigned char>(text[i]);
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (second < low || second > high) return false;
    for (std::size_t k = 1; k < more; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    i += more;
  }
  return true;
}

bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

}  // namespace

Result<std::string> web_socket_accept(const HttpCall& call) {
  if (lower_case(call.header("upgrade")) != "websocket" ||
      lower_case(call.header("connection")).find("upgrade") == std::string::npos)
    return fail("this path speaks WebSocket: send Upgrade: websocket");
  if (call.header("sec-websocket-version") != "13") return fail("Sec-WebSocket-Version must be 13");
  const std::string key = call.header("sec-websocket-key");
  const auto bytes = base64_decode(key);
  if (!bytes || bytes->size() != kKeyBytes)
    return fail("Sec-WebSocket-Key must be {} bytes in base64", kKeyBytes);
  return base64_encode(sha1(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
}

std::string web_socket_frame(Opcode opcode, std::string_view payload) {
  std::string frame(1, static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode)));
  const std::size_t size = payload.size();
  int length_bytes = 0;
  if (size <= kLongestControl) {
    frame += static_cast<char>(size);
  } else if (size <= 0xFFFF) {
    frame += static_cast<char>(kTwoByteLength);
    length_bytes = 2;
  } else {
    frame += static_cast<char>(kEightByteLength);
    length_bytes = 8;
  }
  for (int byte = length_bytes - 1; byte >= 0; --byte)
    frame += static_cast<char>(size >> (8 * byte) & 0xFF);
  frame += payload;
  return frame;
}

std::string web_socket_close(CloseCode code, std::string_view reason) {
  const auto number = static_cast<std::uint16_t>(code);
  std::string payload = {static_cast<char>(number >> 8), static_cast<char>(number & 0xFF)};
  payload += reason.substr(0, kLongestControl - payload.size());
  return web_socket_frame(Opcode::close, payload);
}

std::nullopt_t WebSocketReader::fail_with(CloseCode code) {
  fault_ = code;
  buffer_.clear();
  return std::nullopt;
}

std::optional<WebSocketMessage> WebSocketReader::next() {
  while (!fault_) {
    auto frame = next_frame();
    if (!frame) return std::nullopt;
    if (auto message = add(*std::move(frame))) return message;
  }
  return std::nullopt;
}

std::optional<WebSocketReader::Frame> WebSocketReader::next_frame() {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(buffer_[at]); };
  if (buffer_.size() < 2) return std::nullopt;
  const std::uint8_t number = byte(0) & 0x0F;
  const bool is_masked = (byte(1) & 0x80) != 0;
  if ((byte(0) & 0x70) != 0 || !is_known(number) || !is_masked)
    return fail_with(CloseCode::protocol_error);
  Frame frame{.is_final = (byte(0) & 0x80) != 0, .opcode = static_cast<Opcode>(number)};
  std::uint64_t size = byte(1) & 0x7F;
  if (is_control(frame.opcode) && (!frame.is_final || size > kLongestControl))
    return fail_with(CloseCode::protocol_error);
  std::size_t at = 2;
  const std::size_t length_bytes = size == kEightByteLength ? 8 : size == kTwoByteLength ? 2 : 0;
  if (buffer_.size() < at + length_bytes) return std::nullopt;
  if (length_bytes > 0) size = 0;
  for (std::size_t k = 0; k < length_bytes; ++k) size = size << 8 | byte(at++);
  if (size > message_bytes_) return fail_with(CloseCode::too_large);
  if (buffer_.size() < at + kMaskBytes + size) return std::nullopt;
  const std::string mask = buffer_.substr(at, kMaskBytes);
  frame.payload = buffer_.substr(at + kMaskBytes, size);
  for (std::size_t k = 0; k < frame.payload.size(); ++k)
    frame.payload[k] = static_cast<char>(frame.payload[k] ^ mask[k % kMaskBytes]);
  buffer_.erase(0, at + kMaskBytes + size);
  return frame;
}

// Control frames may stand between the fragments of a message.
std::optional<WebSocketMessage> WebSocketReader::add(Frame frame) {
  if (is_control(frame.opcode))
    return WebSocketMessage{.opcode = frame.opcode, .payload = std::move(frame.payload)};
  if (frame.opcode == Opcode::binary) return fail_with(CloseCode::no_text);
  if ((frame.opcode == Opcode::continuation) != fragments_.has_value())
    return fail_with(CloseCode::protocol_error);
  std::string text = fragments_ ? *std::move(fragments_) : std::string();
  fragments_.reset();
  if (text.size() + frame.payload.size() > message_bytes_) return fail_with(CloseCode::too_large);
  text += frame.payload;
  if (!frame.is_final) {
    fragments_ = std::move(text);
    return std::nullopt;
  }
  if (!is_utf8(text)) return fail_with(CloseCode::not_utf8);
  return WebSocketMessage{.opcode = Opcode::text, .payload = std::move(text)};
}

}  // namespace tritonsmith::gym::service
