// Renders a checkpoint's chat template with the package `jinja2` in a helper process of Python. The
// process ends with the call, so the template's effects stay in it. The Python is that of
// TRITONSMITH_PYTHON in the environment, else that of the build. It fails without jinja2, or if a
// template does not parse, raises an exception or does not end.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "text/chat.h"

namespace tritonsmith::text {

struct JinjaTemplate {
  std::string source;
  std::string bos_token, eos_token;  // from tokenizer_config.json; may be empty
};

// Returns the directory's template, or nothing if it has none.
Result<std::optional<JinjaTemplate>> read_jinja_template(const std::filesystem::path& directory);

// Returns each conversation as text with the generation prompt at its end.
Result<std::vector<std::string>> render_jinja(const JinjaTemplate& chat_template,
                                              std::span<const std::vector<Message>> conversations);

}  // namespace tritonsmith::text
