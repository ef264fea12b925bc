#include "serve/rewards/requests.h"

namespace tritonsmith::serve {
namespace {

// Returns what follows the prompt in a query. The tokenizer may have put tokens before the prompt.
// A query without its prompt is an error: the code in a prompt must never count as an answer.
Result<std::string> after_prompt(const std::string& query, const std::string& prompt) {
  const std::size_t at = query.find(prompt);
  if (at == std::string::npos)
    return fail("the query does not contain its prompt, so where the completion begins is unknown");
  return std::string(without_end_tokens(std::string_view(query).substr(at + prompt.size())));
}

Result<std::vector<std::string>> texts(const Json& body, const char* name) {
  if (!body.contains(name) || !body[name].is_array()) return fail("{} must be a list", name);
  std::vector<std::string> texts;
  for (const Json& item : body[name]) {
    if (!item.is_string()) return fail("{}[{}] must be a text", name, texts.size());
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

}  // namespace

Result<std::vector<Completion>> completions_of_openrlhf(std::string_view body) {
  TRY_ASSIGN(const Json json, parse_json(body));
  if (!json.is_object()) return fail("the body must be an object with query, prompts and labels");
  TRY_ASSIGN(const auto queries, texts(json, "query"));
  TRY_ASSIGN(const auto prompts, texts(json, "prompts"));
  if (!json.contains("labels") || !json["labels"].is_array())
    return fail("labels must be a list: it says which task each query is about");
  const Json& labels = json["labels"];
  if (prompts.size() != queries.size() || labels.size() != queries.size())
    return fail("query, prompts and labels have {}, {} and {} items", queries.size(),
                prompts.size(), labels.size());
  if (queries.size() > kMostQueries)
    return fail("query has {} items, at most {} are taken", queries.size(), kMostQueries);
  std::vector<Completion> completions;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    auto text = after_prompt(queries[i], prompts[i]);
    if (!text) return tl::unexpected(text.error().within(fmt::format("query[{}]", i)));
    completions.push_back({.text = *std::move(text), .label = labels[i]});
  }
  return completions;
}

Result<Completion> completion_of_slime(std::string_view body) {
  TRY_ASSIGN(const Json json, parse_json(body));
  if (!json.is_object()) return fail("the body must be an object with prompt, response and label");
  JsonReader reader(json);
  const std::string response = reader.string("response");
  TRY(reader.status());
  if (!json.contains("label") || json["label"].is_null())
    return fail("label is missing: it says which task the response is about");
  return Completion{.text = std::string(without_end_tokens(response)), .label = json["label"]};
}

}  // namespace tritonsmith::serve
