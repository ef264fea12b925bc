#include "train/run/tensorboard.h"

#include <array>
#include <bit>
#include <cmath>

namespace tritonsmith::train {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
    table[byte] = crc;
  }
  return table;
}

template <typename Word>
std::string little_endian(Word word) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof word; ++i)
    bytes += static_cast<char>((word >> (8 * i)) & 0xFF);
  return bytes;
}

// A checksum of data that holds checksums is weak, so TFRecord stores it rotated and offset.
std::uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

// Protocol buffer wire types.
constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

std::string key(std::uint64_t field, std::uint64_t type) { return varint(field << 3 | type); }
std::string double_field(std::uint64_t field, double value) {
  return key(field, kFixed64) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string float_field(std::uint64_t field, float value) {
  return key(field, kFixed32) + little_endian(std::bit_cast<std::uint32_t>(value));
}
std::string integer_field(std::uint64_t field, std::int64_t value) {
  return key(field, kVarint) + varint(static_cast<std::uint64_t>(value));
}
std::string bytes_field(std::uint64_t field, std::string_view value) {
  return key(field, kBytes) + varint(value.size()) + std::string(value);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = crc_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

std::string tfrecord(std::string_view payload) {
  const std::string length = little_endian(static_cast<std::uint64_t>(payload.size()));
  return length + little_endian(masked_crc32c(length)) + std::string(payload) +
         little_endian(masked_crc32c(payload));
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary. Summary: 1 value. Value: 1 tag, 2
// simple_value.
std::string event_file_head(double wall_seconds) {
  return tfrecord(double_field(1, wall_seconds) + bytes_field(3, "brain.Event:2"));
}

std::string scalar_record(double wall_seconds, std::int64_t step, const Metrics& metrics) {
  std::string summary;
  for (const auto& [name, value] : metrics)
    if (std::isfinite(value))
      summary += bytes_field(1, bytes_field(1, name) + float_field(2, static_cast<float>(value)));
  return tfrecord(double_field(1, wall_seconds) + integer_field(2, step) + bytes_field(5, summary));
}

// Value: 1 tag, 8 tensor, 9 metadata. Tensor: 1 dtype, 2 shape, 8 strings. Shape: 2 dimensions,
// each with 1 size. Metadata: 1 plugin data, with 1 the plugin's name.
std::string text_record(double wall_seconds, std::int64_t step, const std::string& name,
                        std::string_view markdown) {
  constexpr std::int64_t kString = 7;
  const std::string shape = bytes_field(2, integer_field(1, 1));
  const std::string tensor =
      integer_field(1, kString) + bytes_field(2, shape) + bytes_field(8, markdown);
  const std::string metadata = bytes_field(1, bytes_field(1, "text"));
  const std::string value =
      bytes_field(1, name) + bytes_field(8, tensor) + bytes_field(9, metadata);
  return tfrecord(double_field(1, wall_seconds) + integer_field(2, step) +
                  bytes_field(5, bytes_field(1, value)));
}

}  // namespace tritonsmith::train
