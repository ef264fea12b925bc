#include "data/origin.h"

namespace tritonsmith {

Json to_json(const Origin& origin) {
  Json json = Json::object();
  const auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  put("dataset", origin.dataset);
  put("row", origin.row);
  put("repo_name", origin.repository);
  put("module_name", origin.module);
  put("repo_link", origin.link);
  put("sha", origin.sha);
  put("parent", origin.parent);
  if (!origin.licences.empty()) json["licenses"] = origin.licences;
  if (origin.stars) json["stars"] = *origin.stars;
  return json;
}

Result<Origin> origin_from_json(const Json& json) {
  JsonReader reader(json);
  Origin origin{
      .dataset = reader.string("dataset", ""),
      .row = reader.string("row", ""),
      .repository = reader.string("repo_name", ""),
      .module = reader.string("module_name", ""),
      .link = reader.string("repo_link", ""),
      .sha = reader.string("sha", ""),
      .licences = reader.has("licenses") ? reader.strings("licenses") : std::vector<std::string>(),
      .stars = std::nullopt,
      .parent = reader.string("parent", "")};
  if (reader.has("stars")) origin.stars = reader.integer("stars");
  TRY(reader.status());
  return origin;
}

}  // namespace tritonsmith
