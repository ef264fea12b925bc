#include "train/run/tensorboard.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

namespace tritonsmith::train {
namespace {

// A reader of the formats, written from their descriptions and independent of the writer.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::string_view take(std::size_t n) {
    if (bytes_.size() < n) throw std::runtime_error("cut short");
    const std::string_view taken = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return taken;
  }
  template <typename T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

 private:
  std::string_view bytes_;
};

// Computes the checksum bit by bit, by its definition.
std::uint32_t slow_crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78U : crc >> 1;
  }
  return ~crc;
}

std::uint32_t masked(std::string_view bytes) {
  const std::uint32_t crc = slow_crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

std::vector<std::string> records_of(std::string_view file) {
  std::vector<std::string> payloads;
  for (Reader reader(file); !reader.done();) {
    const std::string_view length_bytes = reader.take(8);
    std::uint64_t length = 0;
    std::memcpy(&length, length_bytes.data(), 8);
    if (reader.fixed<std::uint32_t>() != masked(length_bytes)) throw std::runtime_error("length");
    const std::string_view payload = reader.take(length);
    if (reader.fixed<std::uint32_t>() != masked(payload)) throw std::runtime_error("payload");
    payloads.emplace_back(payload);
  }
  return payloads;
}

struct Event {
  double wall = 0;
  std::uint64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
};

std::pair<std::string, float> value_of(std::string_view bytes) {
  std::pair<std::string, float> value;
  for (Reader reader(bytes); !reader.done();) {
    const std::uint64_t key = reader.varint();
    if (key == (1 << 3 | 2))
      value.first = std::string(reader.take(reader.varint()));
    else if (key == (2 << 3 | 5))
      value.second = reader.fixed<float>();
    else
      throw std::runtime_error("unknown field of Value");
  }
  return value;
}

Event event_of(std::string_view bytes) {
  Event event;
  for (Reader reader(bytes); !reader.done();) {
    switch (reader.varint()) {
      case 1 << 3 | 1:
        event.wall = reader.fixed<double>();
        break;
      case 2 << 3 | 0:
        event.step = reader.varint();
        break;
      case 3 << 3 | 2:
        event.version = std::string(reader.take(reader.varint()));
        break;
      case 5 << 3 | 2: {
        Reader summary(reader.take(reader.varint()));
        while (!summary.done()) {
          if (summary.varint() != (1 << 3 | 2)) throw std::runtime_error("unknown field");
          event.scalars.insert(value_of(summary.take(summary.varint())));
        }
        break;
      }
      default:
        throw std::runtime_error("unknown field of Event");
    }
  }
  return event;
}

TEST(Crc32c, GivesTheKnownAnswers) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);            // the check value of the polynomial
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
}

TEST(EventFile, IsReadBackRecordByRecord) {
  const std::string file =
      event_file_head(1700000000.25) +
      scalar_record(1700000001.5, 300, {{"loss", 1.5}, {"reward/mean", -0.25}, {"odd", NAN}});
  const auto records = records_of(file);
  ASSERT_EQ(records.size(), 2U);
  const Event head = event_of(records[0]), step = event_of(records[1]);
  EXPECT_EQ(head.version, "brain.Event:2");
  EXPECT_EQ(head.wall, 1700000000.25);
  EXPECT_EQ(step.step, 300U);
  EXPECT_EQ(step.scalars, (std::map<std::string, float>{{"loss", 1.5F}, {"reward/mean", -0.25F}}));
}

// Returns the bytes of a message's field and skips the fields before it.
std::string_view field_of(std::string_view message, std::uint64_t wanted) {
  for (Reader reader(message); !reader.done();) {
    const std::uint64_t key = reader.varint();
    switch (key & 7) {
      case 0:
        reader.varint();
        break;
      case 1:
        reader.take(8);
        break;
      case 2: {
        const std::string_view bytes = reader.take(reader.varint());
        if (key >> 3 == wanted) return bytes;
        break;
      }
      default:
        reader.take(4);
    }
  }
  throw std::runtime_error("no such field");
}

TEST(EventFile, HoldsATextForTheTextPlugin) {
  const auto records = records_of(text_record(1700000001.5, 7, "completions/best", "**a** \n\n b"));
  ASSERT_EQ(records.size(), 1U);
  const std::string_view value = field_of(field_of(records[0], 5), 1);
  EXPECT_EQ(field_of(value, 1), "completions/best");
  EXPECT_EQ(field_of(field_of(value, 8), 8), "**a** \n\n b");
  EXPECT_EQ(field_of(field_of(field_of(value, 9), 1), 1), "text");
  EXPECT_EQ(Reader(field_of(value, 8)).varint(), 1U << 3 | 0) << "the type comes first";
}

}  // namespace
}  // namespace tritonsmith::train
