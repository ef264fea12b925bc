// Encodes TensorBoard event files with scalars only. Each record is a TFRecord (length, masked
// CRC32C of the length, bytes, masked CRC32C of the bytes) that holds one Event in protocol buffer
// encoding. Formats:
//   tensorflow/core/lib/io/record_writer.h
//   tensorflow/core/util/event.proto
//   tensorflow/core/framework/summary.proto
// The functions are pure; the run directory appends their bytes to its events file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/step.h"

namespace tritonsmith::train {

// CRC-32C (Castagnoli), as TFRecord and iSCSI use it.
std::uint32_t crc32c(std::string_view bytes);

std::string tfrecord(std::string_view payload);

// Returns the first record of every event file.
std::string event_file_head(double wall_seconds);

// Returns one record with all metrics of a step. Numbers that are not finite are left out.
std::string scalar_record(double wall_seconds, std::int64_t step, const Metrics& metrics);

// A text for TensorBoard's text plugin, which shows it as Markdown.
std::string text_record(double wall_seconds, std::int64_t step, const std::string& name,
                        std::string_view markdown);

}  // namespace tritonsmith::train
