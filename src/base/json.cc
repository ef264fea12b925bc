#include "base/json.h"

namespace tritonsmith {

Result<Json> parse_json(std::string_view text, int max_depth) {
  bool too_deep = false;
  const auto watch_depth = [&](int depth, Json::parse_event_t event, Json&) {
    using Event = Json::parse_event_t;
    if (depth > max_depth && (event == Event::object_start || event == Event::array_start))
      too_deep = true;
    return !too_deep;
  };
  try {
    Json json = Json::parse(text, watch_depth);
    if (too_deep) return fail("JSON nested deeper than {} levels", max_depth);
    return json;
  } catch (const Json::parse_error& error) {
    return fail("not valid JSON at byte {}", error.byte);
  } catch (const Json::exception& error) {
    return fail("not valid JSON: {}", error.what());
  }
}

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

JsonReader::JsonReader(const Json& json) : json_(json) {
  if (!json.is_object())
    error_ = Error{fmt::format("an object is expected, not {}", json.type_name())};
}

const Json* JsonReader::find(std::string_view name, bool required) {
  if (error_) return nullptr;
  const auto at = json_.find(name);
  if (at != json_.end() && !at->is_null()) return &*at;
  if (required) refuse(name, "missing");
  return nullptr;
}

void JsonReader::refuse(std::string_view name, std::string_view why) {
  if (!error_) error_ = Error{fmt::format("'{}': {}", name, why)};
}

bool JsonReader::has(std::string_view name) const {
  if (!json_.is_object()) return false;
  const auto at = json_.find(name);
  return at != json_.end() && !at->is_null();
}

std::string JsonReader::string(std::string_view name, const std::optional<std::string>& fallback) {
  const Json* value = find(name, !fallback);
  if (value == nullptr) return fallback.value_or("");
  if (value->is_string()) return value->get<std::string>();
  refuse(name, "must be a string");
  return {};
}

std::int64_t JsonReader::integer(std::string_view name, std::optional<std::int64_t> fallback) {
  const Json* value = find(name, !fallback);
  if (value == nullptr) return fallback.value_or(0);
  if (value->is_number_integer()) return value->get<std::int64_t>();
  refuse(name, "must be a whole number");
  return 0;
}

double JsonReader::number(std::string_view name, std::optional<double> fallback) {
  const Json* value = find(name, !fallback);
  if (value == nullptr) return fallback.value_or(0);
  if (value->is_number()) return value->get<double>();
  refuse(name, "must be a number");
  return 0;
}

bool JsonReader::boolean(std::string_view name, std::optional<bool> fallback) {
  const Json* value = find(name, !fallback);
  if (value == nullptr) return fallback.value_or(false);
  if (value->is_boolean()) return value->get<bool>();
  refuse(name, "must be true or false");
  return false;
}

std::vector<std::string> JsonReader::strings(std::string_view name) {
  std::vector<std::string> list;
  for (const Json& item : array(name)) {
    if (!item.is_string()) {
      refuse(name, "must hold strings");
      return {};
    }
    list.push_back(item.get<std::string>());
  }
  return list;
}

const Json& JsonReader::array(std::string_view name) {
  static const Json empty = Json::array();
  const Json* value = find(name, false);
  if (value == nullptr) return empty;
  if (value->is_array()) return *value;
  refuse(name, "must be a list");
  return empty;
}

const Json& JsonReader::object(std::string_view name) {
  static const Json empty = Json::object();
  const Json* value = find(name, false);
  if (value == nullptr) return empty;
  if (value->is_object()) return *value;
  refuse(name, "must be an object");
  return empty;
}

Status JsonReader::status() const {
  if (error_) return tl::unexpected<Error>(*error_);
  return ok();
}

}  // namespace tritonsmith
