// TensorBoard event files, scalars and texts: each record is a TFRecord (length, masked CRC32C of
// the length, bytes, masked CRC32C of the bytes) that holds one Event in protocol buffer encoding.
// Formats:
//   tensorflow/core/lib/io/record_writer.h, tensorflow/core/util/event.proto,
//   .../framework/summary.proto, .../framework/tensor.proto
// Pure functions from numbers to bytes; the run directory appends them to its events file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/step.h"

namespace tritonsmith::train {

// The Castagnoli polynomial, as TFRecord and iSCSI use it.
std::uint32_t crc32c(std::string_view bytes);

std::string tfrecord(std::string_view payload);

// The first record of every event file.
std::string event_file_head(double wall_seconds);

// All metrics of a step in one record; numbers that are not finite are left out.
std::string scalar_record(double wall_seconds, std::int64_t step, const Metrics& metrics);

// A text for TensorBoard's text plugin, which shows it as Markdown.
std::string text_record(double wall_seconds, std::int64_t step, const std::string& name,
                        std::string_view markdown);

}  // namespace tritonsmith::train
