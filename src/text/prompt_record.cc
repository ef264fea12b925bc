#include "text/prompt_record.h"

#include "base/file.h"

namespace tritonsmith::text {

Fields<PromptRecord> PromptRecord::fields() {
  Fields<PromptRecord> fields = {field("max_new_tokens", &PromptRecord::max_new_tokens,
                                       "The most tokens of a completion. 0: not known.",
                                       at_least(0))};
  for (auto& inner : PromptConfig::fields())
    fields.push_back(
        {.name = inner.name,
         .help = inner.help,
         .set = [set = inner.set](PromptRecord& record,
                                  const Json& json) { return set(record.prompt, json); },
         .get = [get = inner.get](const PromptRecord& record) { return get(record.prompt); }});
  return fields;
}

Json to_json(const PromptRecord& record) {
  Json json = Json::object();
  for (const auto& [name, value] : settings_of(record)) json[name] = value;
  return json;
}

Result<PromptRecord> prompt_record_from_json(const Json& json, std::string_view source_name) {
  if (!json.is_object()) return fail("{}: must be an object", source_name);
  Settings settings;
  for (const auto& [name, value] : json.items()) settings.emplace_back(name, value);
  PromptRecord record;
  TRY(apply_settings(record, settings, source_name));
  return record;
}

std::string to_text(const PromptRecord& record) { return to_json(record).dump(2) + "\n"; }

Result<std::optional<PromptRecord>> read_prompt_record(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / kPromptRecordFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  TRY_ASSIGN(const std::string text, read_file(file));
  const auto json = parse_json(text);
  if (!json) return tl::unexpected<Error>(json.error().within(file.string()));
  TRY_ASSIGN(PromptRecord record, prompt_record_from_json(*json, file.string()));
  return record;
}

}  // namespace tritonsmith::text
