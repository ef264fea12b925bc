#include "gym/plan/value.h"

#include <cmath>
#include <limits>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan {
namespace {

Result<std::int64_t> integer_from_json(const Json& json) {
  if (!json.is_number_integer()) return fail("a whole number is expected");
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return fail("a number exceeds 64 bits");
  return json.get<std::int64_t>();
}

Result<double> number_from_json(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return fail("a number is expected, or \"nan\", \"inf\" or \"-inf\"");
}

Json number_to_json(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

Result<std::string> text_from_json(const Json& json) {
  if (!json.is_string()) return fail("a string is expected");
  return json.get<std::string>();
}

template <NamedEnum E>
Result<Value> named_from_json(const Json& json) {
  TRY_ASSIGN(const std::string name, text_from_json(json));
  TRY_ASSIGN(const E value, enum_from_name<E>(name));
  return Value{value};
}

Result<std::vector<Value>> items_from_json(const Json& json, int depth) {
  if (!json.is_array()) return fail("a list is expected");
  std::vector<Value> items;
  items.reserve(json.size());
  for (const Json& item : json) {
    TRY_ASSIGN(Value value, value_from_json(item, depth + 1));
    items.push_back(std::move(value));
  }
  return items;
}

Result<Value> dict_from_json(const Json& json, int depth) {
  if (!json.is_array()) return fail("a list of pairs is expected");
  Dict dict;
  for (const Json& pair : json) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
      return fail("a pair of a key and a value is expected");
    TRY_ASSIGN(Value value, value_from_json(pair[1], depth + 1));
    dict.items.push_back({pair[0].get<std::string>(), std::move(value)});
  }
  return Value{std::move(dict)};
}

Result<Value> tensor_value_from_json(const Json& json) {
  TRY_ASSIGN(const std::int64_t index, integer_from_json(json));
  if (index < 0 || index >= static_cast<std::int64_t>(plan_limits::kTensors))
    return fail("tensor {} is out of range", index);
  return Value{TensorRef{static_cast<int>(index)}};
}

Result<Value> complex_from_json(const Json& json) {
  if (!json.is_array() || json.size() != 2) return fail("a pair of numbers is expected");
  TRY_ASSIGN(const double real, number_from_json(json[0]));
  TRY_ASSIGN(const double imaginary, number_from_json(json[1]));
  return Value{Complex{real, imaginary}};
}

template <typename T>
Result<Value> wrap(Result<T> result) {
  TRY_ASSIGN(T inner, std::move(result));
  return Value{std::move(inner)};
}

Result<Value> container_from_json(const std::string& form, const Json& inner, int depth) {
  if (form == "dict") return dict_from_json(inner, depth);
  TRY_ASSIGN(std::vector<Value> items, items_from_json(inner, depth));
  if (form == "list") return Value{List{std::move(items)}};
  return Value{Tuple{std::move(items)}};
}

Json items_to_json(const std::vector<Value>& items) {
  Json list = Json::array();
  for (const Value& item : items) list.push_back(to_json(item));
  return list;
}

struct ToJson {
  Json operator()(None) const { return {{"none", true}}; }
  Json operator()(TensorRef tensor) const { return {{"t", tensor.index}}; }
  Json operator()(std::int64_t number) const { return {{"i", number}}; }
  Json operator()(double number) const { return {{"f", number_to_json(number)}}; }
  Json operator()(bool truth) const { return {{"b", truth}}; }
  Json operator()(const std::string& text) const { return {{"s", text}}; }
  Json operator()(const List& list) const { return {{"list", items_to_json(list.items)}}; }
  Json operator()(const Tuple& tuple) const { return {{"tuple", items_to_json(tuple.items)}}; }
  Json operator()(const Dict& dict) const {
    Json pairs = Json::array();
    for (const auto& [key, value] : dict.items) pairs.push_back(Json::array({key, to_json(value)}));
    return {{"dict", std::move(pairs)}};
  }
  Json operator()(DType dtype) const { return {{"dtype", name_of(dtype)}}; }
  Json operator()(DeviceKind device) const { return {{"device", name_of(device)}}; }
  Json operator()(Layout layout) const { return {{"layout", name_of(layout)}}; }
  Json operator()(MemoryFormat format) const { return {{"memory_format", name_of(format)}}; }
  Json operator()(Complex c) const {
    return {{"complex", Json::array({number_to_json(c.real), number_to_json(c.imaginary)})}};
  }
};

}  // namespace

bool Value::operator==(const Value& other) const { return data == other.data; }
bool List::operator==(const List& other) const { return items == other.items; }
bool Tuple::operator==(const Tuple& other) const { return items == other.items; }
bool Dict::operator==(const Dict& other) const { return items == other.items; }

std::int64_t bytes_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8:
    case DType::int8:
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
    case DType::float8_e4m3fnuz:
    case DType::float8_e5m2fnuz:
      return 1;
    case DType::uint16:
    case DType::int16:
    case DType::float16:
    case DType::bfloat16:
      return 2;
    case DType::uint32:
    case DType::int32:
    case DType::float32:
    case DType::complex32:
      return 4;
    case DType::uint64:
    case DType::int64:
    case DType::float64:
    case DType::complex64:
      return 8;
    case DType::complex128:
      return 16;
  }
  return 0;
}

Result<Value> value_from_json(const Json& json, int depth) {
  if (depth > plan_limits::kNesting)
    return fail("values nested deeper than {}", plan_limits::kNesting);
  if (!json.is_object() || json.size() != 1) return fail("a value is an object with one member");
  const std::string& form = json.begin().key();
  const Json& inner = json.begin().value();
  if (form == "t") return tensor_value_from_json(inner);
  if (form == "i") return wrap(integer_from_json(inner));
  if (form == "f") return wrap(number_from_json(inner));
  if (form == "s") return wrap(text_from_json(inner));
  if (form == "none") return Value{None{}};
  if (form == "b" && inner.is_boolean()) return Value{inner.get<bool>()};
  if (form == "list" || form == "tuple" || form == "dict")
    return container_from_json(form, inner, depth);
  if (form == "dtype") return named_from_json<DType>(inner);
  if (form == "device") return named_from_json<DeviceKind>(inner);
  if (form == "layout") return named_from_json<Layout>(inner);
  if (form == "memory_format") return named_from_json<MemoryFormat>(inner);
  if (form == "complex") return complex_from_json(inner);
  return fail("no value has the form '{}'", form.substr(0, 40));
}

Json to_json(const Value& value) { return std::visit(ToJson{}, value.data); }

void append_tensors(const Value& value, std::vector<int>& tensors) {
  if (const auto* tensor = std::get_if<TensorRef>(&value.data)) tensors.push_back(tensor->index);
  if (const auto* list = std::get_if<List>(&value.data))
    for (const Value& item : list->items) append_tensors(item, tensors);
  if (const auto* tuple = std::get_if<Tuple>(&value.data))
    for (const Value& item : tuple->items) append_tensors(item, tensors);
  if (const auto* dict = std::get_if<Dict>(&value.data))
    for (const auto& [key, item] : dict->items) append_tensors(item, tensors);
}

}  // namespace tritonsmith::gym::plan
