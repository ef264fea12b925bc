// Rendering a checkpoint's chat template by the package `jinja2`, in a helper process of Python
// that ends with the call: what the template does stays there. The Python is that of
// TRITONSMITH_PYTHON in the environment, else of the build. May fail: no jinja2, a template that
// does not parse, raises, or does not come to an end.
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
  std::string bos_token, eos_token;  // as tokenizer_config.json names them; may be empty
};

// The directory's template; nothing where it has none.
Result<std::optional<JinjaTemplate>> read_jinja_template(const std::filesystem::path& directory);

// Each conversation as text, with the generation prompt behind it.
Result<std::vector<std::string>> render_jinja(const JinjaTemplate& chat_template,
                                              std::span<const std::vector<Message>> conversations);

}  // namespace tritonsmith::text
