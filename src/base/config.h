// Config: a struct with a default beside each field, and one table of its fields. The TOML reader,
// the `--set key=value` overrides, the JSON and TOML records and the help text all use that table.
//
//   struct RolloutConfig {
//     double temperature = 1.0;
//     static Fields<RolloutConfig> fields() {
//       return {field("temperature", &RolloutConfig::temperature, "1 samples the model as it is",
//                     at_least(0.0))};
//     }
//   };
//   struct RlConfig {
//     RolloutConfig rollout;
//     static Fields<RlConfig> fields() {
//       Fields<RlConfig> all;
//       append_section(all, "rollout", &RlConfig::rollout);
//       return all;
//     }
//   };
//
// An unknown key is an error, and the error names the nearest known key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tritonsmith {

// One field: its dotted name ("rollout.temperature"), its help text, and functions that set and get
// it.
template <typename Config>
struct Field {
  std::string name;
  std::string help;
  std::function<Status(Config&, const Json&)> set;
  std::function<Json(const Config&)> get;
  // The name that the field had in the previous version. It is still read, with a warning.
  std::string old_name = {};
};

template <typename Config>
using Fields = std::vector<Field<Config>>;

// The conversions between a field's type and TOML or JSON. A number converts only without loss. An
// enum value is written by its name.
Status read_value(const Json& json, bool& out);
Status read_value(const Json& json, int& out);
Status read_value(const Json& json, std::int64_t& out);
Status read_value(const Json& json, std::uint64_t& out);
Status read_value(const Json& json, double& out);
Status read_value(const Json& json, std::string& out);
template <typename T>
Status read_value(const Json& json, std::vector<T>& out) {
  if (!json.is_array()) return fail("must be a list");
  out.clear();
  for (const Json& item : json) {
    T value{};
    TRY(read_value(item, value));
    out.push_back(std::move(value));
  }
  return ok();
}
template <NamedEnum E>
Status read_value(const Json& json, E& out) {
  if (!json.is_string()) return fail("must be {}", all_names<E>());
  TRY_ASSIGN(out, enum_from_name<E>(json.get<std::string>()));
  return ok();
}
template <typename T>
Json write_value(const T& value) {
  if constexpr (NamedEnum<T>)
    return std::string(name_of(value));
  else
    return Json(value);
}

template <typename T>
using Check = std::function<Status(const T&)>;

template <typename T>
Check<T> at_least(T low) {
  return [low](const T& value) -> Status {
    if (!(value >= low)) return fail("must be at least {}, not {}", low, value);
    return ok();
  };
}
template <typename T>
Check<T> between(T low, T high) {
  return [low, high](const T& value) -> Status {
    if (!(value >= low && value <= high))
      return fail("must lie between {} and {}, not {}", low, high, value);
    return ok();
  };
}

template <typename Config, typename T>
Field<Config> field(const std::string& name, T Config::*member, const std::string& help,
                    Check<std::type_identity_t<T>> check = {}) {
  return {.name = name,
          .help = help,
          .set = [member, check](Config& config, const Json& json) -> Status {
            T value{};
            TRY(read_value(json, value));
            if (check) TRY(check(value));
            config.*member = std::move(value);
            return ok();
          },
          .get = [member](const Config& config) { return write_value(config.*member); }};
}

// Returns a field that was renamed: both names are read.
template <typename Config>
Field<Config> renamed_from(const std::string& old_name, Field<Config> field) {
  field.old_name = old_name;
  return field;
}

// Appends all fields of a member struct and puts "NAME." in front of their names.
template <typename Config, typename Part>
void append_section(Fields<Config>& fields, const std::string& name, Part Config::*member) {
  for (auto& inner : Part::fields())
    fields.push_back(
        {.name = name + "." + inner.name,
         .help = inner.help,
         .set = [member, set = inner.set](Config& config,
                                          const Json& json) { return set(config.*member, json); },
         .get = [member, get = inner.get](const Config& config) { return get(config.*member); },
         .old_name = inner.old_name.empty() ? "" : name + "." + inner.old_name});
}

// Names and values in the order of the file. Tables are flattened to dotted names.
using Settings = std::vector<std::pair<std::string, Json>>;
Result<Settings> settings_from_toml(std::string_view text, std::string_view source_name);
// Parses overrides such as "rollout.temperature=0.7". The value is read as TOML, or as a bare
// string if it is no valid TOML.
Result<Settings> settings_from_overrides(const std::vector<std::string>& overrides);
// Returns the known name that the writer most likely meant. Besides names with a few other letters,
// it considers the same name in another section, longer names that begin with the wanted word
// ("optimizer.warmup_updates" for "warmup"), and initials ("learning_rate" for "lr").
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known);
// Returns the nearest name if it is so near that somebody may well have meant it.
std::optional<std::string> near_name(std::string_view wanted,
                                     const std::vector<std::string>& known);
// Returns "did you mean 'optimizer.learning_rate'?". If no name is near, it lists the names of the
// wanted section, or the sections if the section is unknown.
std::string suggestion(std::string_view wanted, const std::vector<std::string>& known);
// Returns what the error for an unknown key says to do. A Config may have a static function
// `hint(wanted, known)`, which knows names that the suggestion cannot; its empty text says nothing.
template <typename Config>
std::string hint_for_unknown(std::string_view wanted, const std::vector<std::string>& known) {
  if constexpr (requires { Config::hint(wanted, known); }) {
    if (std::string hint = Config::hint(wanted, known); !hint.empty()) return hint;
  }
  return suggestion(wanted, known);
}
// Warns on stderr that the next version will not know the old name.
void warn_of_old_name(std::string_view source_name, std::string_view old_name,
                      std::string_view new_name);
std::string toml_from_settings(const Settings& settings);

template <typename Config>
Status apply_settings(Config& config, const Settings& settings, std::string_view source_name) {
  const auto fields = Config::fields();
  for (const auto& [name, value] : settings) {
    const auto at = std::find_if(fields.begin(), fields.end(), [&, key = name](const auto& known) {
      return known.name == key || (!known.old_name.empty() && known.old_name == key);
    });
    if (at == fields.end()) {
      std::vector<std::string> known;
      for (const auto& each : fields) known.push_back(each.name);
      return fail("{}: unknown key '{}'; {}", source_name, name,
                  hint_for_unknown<Config>(name, known));
    }
    if (at->name != name) warn_of_old_name(source_name, name, at->name);
    TRY_WITHIN(fmt::format("{}: {}", source_name, name), at->set(config, value));
  }
  return ok();
}

// Starts from the defaults, applies the TOML file, then applies the overrides.
template <typename Config>
Result<Config> load_config(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides);

template <typename Config>
Settings settings_of(const Config& config) {
  Settings settings;
  for (const auto& each : Config::fields()) settings.emplace_back(each.name, each.get(config));
  return settings;
}

template <typename Config>
std::string config_help() {
  std::string text;
  const Config defaults{};
  for (const auto& each : Config::fields())
    text += fmt::format("  {:<36} {} (default {})\n", each.name, each.help,
                        to_line(each.get(defaults)));
  return text;
}

Result<Settings> settings_from_toml_file(const std::filesystem::path& file);

template <typename Config>
Result<Config> load_config(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides) {
  Config config;
  TRY_ASSIGN(const Settings in_file, settings_from_toml_file(file));
  TRY(apply_settings(config, in_file, file.string()));
  TRY_ASSIGN(const Settings on_top, settings_from_overrides(overrides));
  TRY(apply_settings(config, on_top, "--set"));
  return config;
}

}  // namespace tritonsmith
