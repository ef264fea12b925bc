// Value: what a launch plan passes to operators and to forward: a tensor by its index, a number, a
// string, a container, or one of torch's small enumerations. It mirrors "values" in docs/plan.md
// one to one. Plain data, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.h"
#include "base/json.h"

namespace tritonsmith::gym {

// torch's scalar types, by torch's names.
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

// Refuses unknown forms, numbers out of range and nesting deeper than 32.
Result<Value> value_from_json(const Json& json, int depth = 0);
Json to_json(const Value& value);

// Every tensor in the value, in order, repeats included.
void append_tensors(const Value& value, std::vector<int>& tensors);

}  // namespace tritonsmith::gym

namespace tritonsmith {

template <>
inline constexpr auto enum_names<gym::DType> =
    names<gym::DType>({{gym::DType::boolean, "bool"},
                       {gym::DType::uint8, "uint8"},
                       {gym::DType::uint16, "uint16"},
                       {gym::DType::uint32, "uint32"},
                       {gym::DType::uint64, "uint64"},
                       {gym::DType::int8, "int8"},
                       {gym::DType::int16, "int16"},
                       {gym::DType::int32, "int32"},
                       {gym::DType::int64, "int64"},
                       {gym::DType::float16, "float16"},
                       {gym::DType::bfloat16, "bfloat16"},
                       {gym::DType::float32, "float32"},
                       {gym::DType::float64, "float64"},
                       {gym::DType::complex32, "complex32"},
                       {gym::DType::complex64, "complex64"},
                       {gym::DType::complex128, "complex128"},
                       {gym::DType::float8_e4m3fn, "float8_e4m3fn"},
                       {gym::DType::float8_e5m2, "float8_e5m2"},
                       {gym::DType::float8_e4m3fnuz, "float8_e4m3fnuz"},
                       {gym::DType::float8_e5m2fnuz, "float8_e5m2fnuz"}});
template <>
inline constexpr auto enum_names<gym::DeviceKind> =
    names<gym::DeviceKind>({{gym::DeviceKind::cpu, "cpu"},
                            {gym::DeviceKind::cuda, "cuda"},
                            {gym::DeviceKind::meta, "meta"}});
template <>
inline constexpr auto enum_names<gym::Layout> = names<gym::Layout>({{gym::Layout::strided,
                                                                     "strided"}});
template <>
inline constexpr auto enum_names<gym::MemoryFormat> =
    names<gym::MemoryFormat>({{gym::MemoryFormat::contiguous, "contiguous_format"},
                              {gym::MemoryFormat::preserve, "preserve_format"},
                              {gym::MemoryFormat::channels_last, "channels_last"},
                              {gym::MemoryFormat::channels_last_3d, "channels_last_3d"}});

}  // namespace tritonsmith
