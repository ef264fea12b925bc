#include "gym/service/http/web_socket.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tritonsmith::gym::service {
namespace {

// A client's frame: masked.
std::string masked(unsigned char first, std::string_view payload, std::string_view mask = "mask") {
  std::string frame = web_socket_frame(Opcode::text, payload);
  const std::size_t head = frame.size() - payload.size();
  frame[0] = static_cast<char>(first);
  frame[1] = static_cast<char>(frame[1] | 0x80);
  std::string bytes = frame.substr(0, head) + std::string(mask);
  for (std::size_t i = 0; i < payload.size(); ++i)
    bytes += static_cast<char>(payload[i] ^ mask[i % mask.size()]);
  return bytes;
}

std::optional<CloseCode> fault_of(const std::string& bytes) {
  WebSocketReader reader(1000);
  reader.feed(bytes);
  while (reader.next())
    ;
  return reader.fault();
}

constexpr unsigned char kFinal = 0x80, kText = 0x81;

TEST(WebSocket, AcceptsAHandshakeAsTheStandardsExampleHasIt) {
  HttpCall call{.headers = {{"upgrade", "WebSocket"},
                            {"connection", "keep-alive, Upgrade"},
                            {"sec-websocket-version", "13"},
                            {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}}};
  EXPECT_EQ(web_socket_accept(call).value_or(""), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"upgrade", "h2c"},
                                          {"connection", "close"},
                                          {"sec-websocket-version", "8"},
                                          {"sec-websocket-key", "dGhl"}}) {
    HttpCall odd = call;
    odd.headers[name] = value;
    EXPECT_FALSE(web_socket_accept(odd)) << name;
  }
}

TEST(WebSocket, PutsAMessageTogetherFromFragmentsAroundAPing) {
  WebSocketReader reader(1000);
  const std::string bytes =
      masked(0x01, "ab") + masked(0x89, "are you there") + masked(kFinal, "\xC3\xA9");
  std::vector<WebSocketMessage> messages;
  for (const char byte : bytes) {  // as slowly as it may come
    reader.feed({&byte, 1});
    while (const auto message = reader.next()) messages.push_back(*message);
  }
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].opcode, Opcode::ping);
  EXPECT_EQ(messages[0].payload, "are you there");
  EXPECT_EQ(messages[1].payload, "ab\xC3\xA9");
  EXPECT_FALSE(reader.fault());
}

TEST(WebSocket, EndsWhatBreaksTheProtocol) {
  EXPECT_EQ(fault_of(web_socket_frame(Opcode::text, "not masked")), CloseCode::protocol_error);
  EXPECT_EQ(fault_of(masked(0xC1, "reserved bit")), CloseCode::protocol_error);
  EXPECT_EQ(fault_of(masked(0x83, "unknown")), CloseCode::protocol_error);
  EXPECT_EQ(fault_of(masked(kFinal, "begins nowhere")), CloseCode::protocol_error);
  EXPECT_EQ(fault_of(masked(0x01, "a") + masked(kText, "b")), CloseCode::protocol_error);
  EXPECT_EQ(fault_of(masked(0x09, "a ping in parts")), CloseCode::protocol_error);
  EXPECT_EQ(fault_of(masked(0x89, std::string(126, 'x'))), CloseCode::protocol_error);
  EXPECT_EQ(fault_of(masked(0x82, "binary")), CloseCode::no_text);
  EXPECT_EQ(fault_of(masked(kText, std::string(1001, 'x'))), CloseCode::too_large);
  EXPECT_EQ(fault_of(masked(0x01, std::string(600, 'x')) + masked(kFinal, std::string(600, 'x'))),
            CloseCode::too_large);
  for (const char* odd :
       {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"})
    EXPECT_EQ(fault_of(masked(kText, odd)), CloseCode::not_utf8);
  for (const char* fine :
       {"", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_FALSE(fault_of(masked(kText, fine)));
}

RC_GTEST_PROP(WebSocket, ReadsWhatAClientWrites, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(0, 70'000);
  const std::string text(size, 'x');
  WebSocketReader reader(70'000);
  reader.feed(masked(kText, text));
  const auto message = reader.next();
  RC_ASSERT(message.has_value());
  RC_ASSERT(message->payload == text);
}

}  // namespace
}  // namespace tritonsmith::gym::service
