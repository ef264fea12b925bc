// Value: one argument in a launch plan. It is a tensor by its index, a number, a string, a
// container, or one of torch's small enumerations. It mirrors "values" in docs/plan.md one to one.
// Plain data for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.h"
#include "base/json.h"

namespace tritonsmith::gym::plan {

// PyTorch's scalar types, by PyTorch's names.
enum class DType {
  boolean,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  complex32,
  complex64,
  complex128,
  float8_e4m3fn,
  float8_e5m2,
  float8_e4m3fnuz,
  float8_e5m2fnuz
};
// cpu and cuda both mean the device that the plan is replayed on.
enum class DeviceKind { cpu, cuda, meta };
enum class Layout { strided };
enum class MemoryFormat { contiguous, preserve, channels_last, channels_last_3d };

std::int64_t bytes_of(DType dtype);

struct None {
  bool operator==(const None&) const = default;
};
struct TensorRef {
  int index = 0;
  bool operator==(const TensorRef&) const = default;
};
struct Complex {
  double real = 0, imaginary = 0;
  bool operator==(const Complex&) const = default;
};

struct Value;
struct DictEntry;
struct List {
  std::vector<Value> items;
  bool operator==(const List&) const;
};
struct Tuple {
  std::vector<Value> items;
  bool operator==(const Tuple&) const;
};
struct Dict {
  std::vector<DictEntry> items;  // in the order of insertion
  bool operator==(const Dict&) const;
};

struct Value {
  std::variant<None, TensorRef, std::int64_t, double, bool, std::string, List, Tuple, Dict, DType,
               DeviceKind, Layout, MemoryFormat, Complex>
      data;
  bool operator==(const Value&) const;
};

struct DictEntry {
  std::string key;
  Value value;
  bool operator==(const DictEntry&) const = default;
};

// Fails on unknown forms, numbers out of range and nesting deeper than 32.
Result<Value> value_from_json(const Json& json, int depth = 0);
Json to_json(const Value& value);

// Appends the index of every tensor in the value, in order and with repeats.
void append_tensors(const Value& value, std::vector<int>& tensors);

}  // namespace tritonsmith::gym::plan

namespace tritonsmith {

template <>
inline constexpr auto enum_names<gym::plan::DType> =
    names<gym::plan::DType>({{gym::plan::DType::boolean, "bool"},
                             {gym::plan::DType::uint8, "uint8"},
                             {gym::plan::DType::uint16, "uint16"},
                             {gym::plan::DType::uint32, "uint32"},
                             {gym::plan::DType::uint64, "uint64"},
                             {gym::plan::DType::int8, "int8"},
                             {gym::plan::DType::int16, "int16"},
                             {gym::plan::DType::int32, "int32"},
                             {gym::plan::DType::int64, "int64"},
                             {gym::plan::DType::float16, "float16"},
                             {gym::plan::DType::bfloat16, "bfloat16"},
                             {gym::plan::DType::float32, "float32"},
                             {gym::plan::DType::float64, "float64"},
                             {gym::plan::DType::complex32, "complex32"},
                             {gym::plan::DType::complex64, "complex64"},
                             {gym::plan::DType::complex128, "complex128"},
                             {gym::plan::DType::float8_e4m3fn, "float8_e4m3fn"},
                             {gym::plan::DType::float8_e5m2, "float8_e5m2"},
                             {gym::plan::DType::float8_e4m3fnuz, "float8_e4m3fnuz"},
                             {gym::plan::DType::float8_e5m2fnuz, "float8_e5m2fnuz"}});
template <>
inline constexpr auto enum_names<gym::plan::DeviceKind> =
    names<gym::plan::DeviceKind>({{gym::plan::DeviceKind::cpu, "cpu"},
                                  {gym::plan::DeviceKind::cuda, "cuda"},
                                  {gym::plan::DeviceKind::meta, "meta"}});
template <>
inline constexpr auto enum_names<gym::plan::Layout> =
    names<gym::plan::Layout>({{gym::plan::Layout::strided, "strided"}});
template <>
inline constexpr auto enum_names<gym::plan::MemoryFormat> = names<gym::plan::MemoryFormat>(
    {{gym::plan::MemoryFormat::contiguous, "contiguous_format"},
     {gym::plan::MemoryFormat::preserve, "preserve_format"},
     {gym::plan::MemoryFormat::channels_last, "channels_last"},
     {gym::plan::MemoryFormat::channels_last_3d, "channels_last_3d"}});

}  // namespace tritonsmith
