#include "gym/wire/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/check.h"

namespace tritonsmith::gym::wire {
namespace {

Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }
Deadline at_once() { return Deadline::after(std::chrono::milliseconds(5)); }

SocketPair sockets() {
  auto pair = make_socket_pair();
  CHECK(pair.has_value(), "{}", pair.error().message);
  return std::move(*pair);
}

void send_raw(const Fd& fd, std::string_view bytes) {
  ASSERT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

std::string raw_frame(std::string_view payload) {
  const auto n = static_cast<std::uint32_t>(payload.size());
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(n >> (8 * i));
  return bytes + std::string(payload);
}

TEST(Frame, ArrivesAsItWasSent) {
  const auto pair = sockets();
  for (const std::string payload : {"", "{}", "\0\xff"}) {
    ASSERT_TRUE(write_frame(pair.ours.get(), payload, soon()));
    EXPECT_EQ(read_frame(pair.theirs.get(), soon())->payload, payload);
  }
}

TEST(Frame, LargerThanTheSocketBufferArrivesWhole) {
  const auto pair = sockets();
  std::string payload(5 << 20, 'x');
  payload[4'999'999] = 'y';
  std::jthread writer([&] { EXPECT_TRUE(write_frame(pair.ours.get(), payload, soon())); });
  EXPECT_EQ(read_frame(pair.theirs.get(), soon())->payload, payload);
}

TEST(Frame, CarriesDescriptorsOnlyWhereTheyAreAccepted) {
  const auto pair = sockets();
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const int given[] = {pipe->write.get()};
  ASSERT_TRUE(write_frame(pair.ours.get(), "a", soon(), given));
  ASSERT_TRUE(write_frame(pair.ours.get(), "b", soon(), given));
  auto accepted = read_frame(pair.theirs.get(), soon(), 100, FrameFds::accepted);
  ASSERT_TRUE(accepted);
  ASSERT_EQ(accepted->fds.size(), 1u);
  send_raw(accepted->fds[0], "through");
  char got[7];
  EXPECT_EQ(::read(pipe->read.get(), got, 7), 7);
  EXPECT_TRUE(read_frame(pair.theirs.get(), soon())->fds.empty());
}

TEST(Frame, EndBetweenFramesIsNotTheSameAsWithinOne) {
  for (const auto& [bytes, expected] : {std::pair{std::string(), FrameFault::end},
                                        {std::string("\x01"), FrameFault::truncated},
                                        {std::string("\x05\0\0\0", 4), FrameFault::truncated},
                                        {std::string("\x05\0\0\0ab", 6), FrameFault::truncated}}) {
    auto pair = sockets();
    send_raw(pair.ours, bytes);
    pair.ours.reset();
    const auto frame = read_frame(pair.theirs.get(), soon());
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().fault, expected) << bytes.size();
  }
}

TEST(Frame, FalseLengthIsRefusedBeforeAnythingIsAllocated) {
  const auto pair = sockets();
  send_raw(pair.ours, "\xff\xff\xff\xff");
  const auto frame = read_frame(pair.theirs.get(), soon(), 1000);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().fault, FrameFault::too_large);
  EXPECT_EQ(frame.error().error.message, "a frame of 4294967295 bytes is over the limit of 1000");
}

TEST(Frame, SilenceEndsAtTheDeadline) {
  const auto pair = sockets();
  send_raw(pair.ours, "\x05\0");
  EXPECT_EQ(read_frame(pair.theirs.get(), at_once()).error().fault, FrameFault::timeout);
  const std::string payload(std::size_t{8} << 20, 'x');
  EXPECT_EQ(write_frame(pair.ours.get(), payload, at_once()).error().fault, FrameFault::timeout);
}

TEST(Frame, WritingToWhoLeftIsAnEndNotASignal) {
  auto pair = sockets();
  pair.theirs.reset();
  EXPECT_EQ(write_frame(pair.ours.get(), "x", soon()).error().fault, FrameFault::end);
}

TEST(FrameReader, ReadsWithoutWaitingAndSeesTheEnd) {
  auto pair = sockets();
  FrameReader reader(100);
  EXPECT_TRUE(reader.read_some(pair.theirs.get()).value());
  EXPECT_FALSE(reader.next());
  send_raw(pair.ours, raw_frame("one") + raw_frame("two"));
  EXPECT_TRUE(reader.read_some(pair.theirs.get()).value());
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(reader.next(), "two");
  pair.ours.reset();
  EXPECT_FALSE(reader.read_some(pair.theirs.get()).value());
}

TEST(FrameWriter, KeepsWhatTheSocketDoesNotTake) {
  const auto pair = sockets();
  const std::string payload(std::size_t{4} << 20, 'x');
  FrameWriter writer;
  writer.add(payload);
  writer.add("last");
  EXPECT_FALSE(writer.write_some(pair.ours.get()).value());
  FrameReader reader;
  std::vector<std::size_t> sizes;
  while (sizes.size() < 2) {
    ASSERT_TRUE(reader.read_some(pair.theirs.get()).value());
    ASSERT_TRUE(writer.write_some(pair.ours.get()));
    while (auto frame = reader.next()) sizes.push_back(frame->size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{payload.size(), 4}));
  EXPECT_TRUE(writer.empty());
}

RC_GTEST_PROP(FrameReader, FindsTheSameFramesHoweverTheBytesAreCut,
              (const std::vector<std::string>& payloads)) {
  std::string bytes;
  for (const auto& payload : payloads) bytes += raw_frame(payload);
  FrameReader reader;
  std::vector<std::string> found;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t step = *rc::gen::inRange<std::size_t>(1, 9);
    RC_ASSERT(reader.take(std::string_view(bytes).substr(at, step)).has_value());
    at += step;
    while (auto frame = reader.next()) found.push_back(*frame);
  }
  RC_ASSERT(found == payloads);
}

RC_GTEST_PROP(FrameReader, SurvivesAnyBytes, (const std::string& bytes)) {
  FrameReader reader(1000);
  if (!reader.take(bytes)) return;
  while (auto frame = reader.next()) RC_ASSERT(frame->size() <= 1000u);
}

}  // namespace
}  // namespace tritonsmith::gym::wire
