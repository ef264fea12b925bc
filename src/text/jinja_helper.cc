#include "text/jinja_helper.h"

#include <cstdlib>

#include "base/ask_program.h"
#include "base/file.h"

namespace tritonsmith::text {
namespace {

namespace fs = std::filesystem;

// The environment is that of the package `transformers`: the same options, extensions and names.
// Only strftime_now is missing, so that a rendering does not depend on the day.
constexpr const char* kProgram = R"PY(
import json, sys
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

class Generation(Extension):
    tags = {"generation"}
    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)

def refuse(message):
    raise ValueError(message)

given = json.load(sys.stdin)
try:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = lambda value, **kinds: json.dumps(value, ensure_ascii=False, **kinds)
    environment.globals["raise_exception"] = refuse
    template = environment.from_string(given["template"])
    texts = [template.render(messages=messages, add_generation_prompt=True, tools=None, documents=None,
                             **given["names"])
             for messages in given["conversations"]]
    answer = {"texts": texts}
except Exception as error:
    answer = {"error": " ".join(str(error).split())[:300] or type(error).__name__}
json.dump(answer, sys.stdout)
)PY";

std::string python() {
  const char* named = std::getenv("TRITONSMITH_PYTHON");
  return named != nullptr && *named != '\0' ? named : TRITONSMITH_PYTHON;
}

Result<Json> ask_helper(const Json& question) {
  constexpr auto kPatience = std::chrono::seconds(60);
  auto answer =
      ask_program({python(), "-I", "-B", "-c", kProgram}, question, Deadline::after(kPatience));
  if (!answer) return fail("{}; it needs the package jinja2", answer.error().message);
  return answer;
}

// Returns a token's text. tokenizer_config.json holds a string, or an object with its content.
std::string token_text(const Json& config, const char* name) {
  const Json value = config.value(name, Json());
  if (value.is_object()) return JsonReader(value).string("content", "");
  return value.is_string() ? value.get<std::string>() : "";
}

// Returns the default template. The config holds one template, or several with names.
std::string default_template(const Json& templates) {
  if (templates.is_string()) return templates.get<std::string>();
  if (!templates.is_array()) return "";
  for (const Json& each : templates) {
    JsonReader reader(each);
    if (reader.string("name", "") == "default") return reader.string("template", "");
  }
  return "";
}

}  // namespace

Result<std::optional<JinjaTemplate>> read_jinja_template(const fs::path& directory) {
  const fs::path config_file = directory / "tokenizer_config.json";
  const fs::path own_file = directory / "chat_template.jinja";
  std::error_code ignored;
  JinjaTemplate found;
  if (fs::exists(config_file, ignored)) {
    TRY_ASSIGN(const std::string text, read_file(config_file));
    auto config = parse_json(text);
    if (!config) return tl::unexpected<Error>(config.error().within(config_file.string()));
    if (!config->is_object()) return fail("{}: must be an object", config_file.string());
    found = {.source = default_template(config->value("chat_template", Json())),
             .bos_token = token_text(*config, "bos_token"),
             .eos_token = token_text(*config, "eos_token")};
  }
  if (fs::exists(own_file, ignored)) {
    TRY_ASSIGN(found.source, read_file(own_file));
  }
  if (found.source.empty()) return std::optional<JinjaTemplate>();
  return std::optional(std::move(found));
}

Result<std::vector<std::string>> render_jinja(const JinjaTemplate& chat_template,
                                              std::span<const std::vector<Message>> conversations) {
  Json question = {
      {"template", chat_template.source},
      {"names", {{"bos_token", chat_template.bos_token}, {"eos_token", chat_template.eos_token}}},
      {"conversations", Json::array()}};
  for (const auto& conversation : conversations) {
    Json messages = Json::array();
    for (const Message& message : conversation)
      messages.push_back({{"role", name_of(message.role)}, {"content", message.content}});
    question["conversations"].push_back(std::move(messages));
  }
  TRY_ASSIGN(const Json answer, ask_helper(question));
  if (answer.contains("error")) return fail("{}", answer["error"].get<std::string>());
  return answer.at("texts").get<std::vector<std::string>>();
}

}  // namespace tritonsmith::text
