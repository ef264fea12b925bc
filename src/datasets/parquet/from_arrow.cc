#include "datasets/parquet/from_arrow.h"

#include <cmath>

namespace tritonsmith::datasets::parquet {
namespace {

template <typename ArrayType>
const ArrayType& as(const arrow::Array& array) {
  return static_cast<const ArrayType&>(array);
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <typename ListType>
Json elements_of(const ListType& lists, std::int64_t at) {
  Json out = Json::array();
  const arrow::Array& values = *lists.values();
  for (std::int64_t i = lists.value_offset(at); i < lists.value_offset(at) + lists.value_length(at);
       ++i)
    out.push_back(value_at(values, i));
  return out;
}

Json members_of(const arrow::StructArray& array, std::int64_t at) {
  Json out = Json::object();
  for (int i = 0; i < array.num_fields(); ++i)
    out[array.struct_type()->field(i)->name()] = value_at(*array.field(i), at);
  return out;
}

// A map becomes an object if its keys are text, as JSON demands.
Json entries_of(const arrow::MapArray& array, std::int64_t at) {
  Json out = Json::object();
  for (std::int64_t i = array.value_offset(at); i < array.value_offset(at) + array.value_length(at);
       ++i) {
    const Json key = value_at(*array.keys(), i);
    out[key.is_string() ? key.get<std::string>() : one_line(key)] = value_at(*array.items(), i);
  }
  return out;
}

Json text_of(const arrow::Array& array, std::int64_t at) {
  const auto scalar = array.GetScalar(at);
  return scalar.ok() ? Json((*scalar)->ToString()) : Json(nullptr);
}

}  // namespace

Json value_at(const arrow::Array& array, std::int64_t at) {
  using arrow::Type;
  if (array.IsNull(at)) return nullptr;
  switch (array.type_id()) {
    case Type::BOOL:
      return as<arrow::BooleanArray>(array).Value(at);
    case Type::INT8:
      return as<arrow::Int8Array>(array).Value(at);
    case Type::INT16:
      return as<arrow::Int16Array>(array).Value(at);
    case Type::INT32:
      return as<arrow::Int32Array>(array).Value(at);
    case Type::INT64:
      return as<arrow::Int64Array>(array).Value(at);
    case Type::UINT8:
      return as<arrow::UInt8Array>(array).Value(at);
    case Type::UINT16:
      return as<arrow::UInt16Array>(array).Value(at);
    case Type::UINT32:
      return as<arrow::UInt32Array>(array).Value(at);
    case Type::UINT64:
      return as<arrow::UInt64Array>(array).Value(at);
    case Type::FLOAT:
      return number(as<arrow::FloatArray>(array).Value(at));
    case Type::DOUBLE:
      return number(as<arrow::DoubleArray>(array).Value(at));
    case Type::STRING:
      return as<arrow::StringArray>(array).GetString(at);
    case Type::BINARY:
      return as<arrow::BinaryArray>(array).GetString(at);
    case Type::LARGE_STRING:
      return as<arrow::LargeStringArray>(array).GetString(at);
    case Type::LARGE_BINARY:
      return as<arrow::LargeBinaryArray>(array).GetString(at);
    case Type::STRING_VIEW:
      return as<arrow::StringViewArray>(array).GetString(at);
    case Type::LIST:
      return elements_of(as<arrow::ListArray>(array), at);
    case Type::LARGE_LIST:
      return elements_of(as<arrow::LargeListArray>(array), at);
    case Type::FIXED_SIZE_LIST:
      return elements_of(as<arrow::FixedSizeListArray>(array), at);
    case Type::MAP:
      return entries_of(as<arrow::MapArray>(array), at);
    case Type::STRUCT:
      return members_of(as<arrow::StructArray>(array), at);
    case Type::DICTIONARY: {
      const auto& dictionary = as<arrow::DictionaryArray>(array);
      return value_at(*dictionary.dictionary(), dictionary.GetValueIndex(at));
    }
    case Type::NA:
      return nullptr;
    default:
      return text_of(array, at);
  }
}

}  // namespace tritonsmith::datasets::parquet
