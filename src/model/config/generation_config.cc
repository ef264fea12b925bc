#include "model/config/generation_config.h"

#include "base/file.h"

namespace tritonsmith::model {
namespace {

Status append_ids(const Json& value, const ModelConfig& config, std::vector<TokenId>& ids) {
  if (value.is_null()) return ok();
  for (const Json& each : value.is_array() ? value : Json::array({value})) {
    if (!each.is_number_integer()) return fail("eos_token_id must be a token id or a list of them");
    const auto id = each.get<std::int64_t>();
    if (id < 0 || id >= config.vocab_size)
      return fail("eos_token_id {} is no token of this model; its ids are 0 to {}", id,
                  config.vocab_size - 1);
    ids.push_back(static_cast<TokenId>(id));
  }
  return ok();
}

}  // namespace

Result<std::vector<TokenId>> end_tokens(const std::filesystem::path& directory,
                                        const ModelConfig& config) {
  const std::filesystem::path file = directory / "generation_config.json";
  std::vector<TokenId> ids;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    const Json own = to_json(config)["eos_token_id"];
    TRY_WITHIN((directory / "config.json").string(), append_ids(own, config, ids));
    return ids;
  }
  TRY_ASSIGN(const std::string text, read_file(file));
  auto json = parse_json(text);
  if (!json) return tl::unexpected<Error>(json.error().within(file.string()));
  if (!json->is_object()) return fail("{}: must be an object", file.string());
  TRY_WITHIN(file.string(), append_ids(json->value("eos_token_id", Json()), config, ids));
  return ids;
}

}  // namespace tritonsmith::model
