// The sources of modules in data sets as the files that the judge knows.

#include <algorithm>

#include "curriculum/suite.h"
#include "datasets/task_row.h"
#include "text/code_fence.h"

namespace tritonsmith::datasets {
namespace {

// KernelBook's modules were cut out of repositories by pytorch-jit-paritybench, whose helpers some of
// them import: a config whose members are attributes, and a layer that stands for an unknown one.
constexpr std::string_view kConfig =
    "class _mock_config(dict):\n"
    "    \"\"\"A config whose entries are attributes.\"\"\"\n\n"
    "    def __getattr__(self, name):\n"
    "        try:\n"
    "            return self[name]\n"
    "        except KeyError:\n"
    "            raise AttributeError(name) from None\n";
constexpr std::string_view kLayer =
    "def _mock_layer(in_features=None, out_features=None, *args, **kwargs):\n"
    "    \"\"\"A layer in place of one that the module is given.\"\"\"\n"
    "    import torch\n"
    "    if in_features and out_features:\n"
    "        return torch.nn.Linear(in_features, out_features, **kwargs)\n"
    "    return torch.nn.ReLU()\n";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

// Tells whether a line at top level defines the class or binds the name.
bool defines(std::string_view source, const std::string& name) {
  for (const std::string& start : {"class " + name, name})
    for (std::size_t at = source.find(start); at != std::string_view::npos;
         at = source.find(start, at + 1)) {
      const std::size_t end = at + start.size();
      const bool at_line_start = at == 0 || source[at - 1] == '\n';
      const bool is_class = start != name;
      if (!at_line_start || end >= source.size() || is_word(source[end])) continue;
      if (is_class || source.substr(end).starts_with(" =")) return true;
    }
  return false;
}

bool is_identifier(const std::string& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, is_word);
}

void with_end_of_line(std::string& text) {
  if (!text.ends_with('\n')) text += '\n';
}

// Replaces imports of the helpers by definitions of those that are used.
void define_helpers(std::string& source) {
  const std::size_t at = source.find("from _paritybench_helpers import ");
  if (at == std::string::npos || (at > 0 && source[at - 1] != '\n')) return;
  const std::size_t end = std::min(source.find('\n', at), source.size());
  std::string definitions;
  const std::string rest = source.substr(0, at) + source.substr(end);
  if (has_word(rest, "_mock_config")) definitions += kConfig;
  if (has_word(rest, "_mock_layer")) definitions += kLayer;
  while (definitions.ends_with('\n')) definitions.pop_back();
  source.replace(at, end - at, definitions);
}

}  // namespace

Result<std::string> as_task_source(std::string source, const std::string& entry_point) {
  if (source.size() > kMaxSourceBytes)
    return fail("its module has {} bytes, at most {} are a task", source.size(), kMaxSourceBytes);
  define_helpers(source);
  if (!entry_point.empty() && entry_point != "Model") {
    if (!is_identifier(entry_point)) return fail("the entry point is no name of a class");
    if (!defines(source, entry_point))
      return fail("its module defines no class {}, the entry point", entry_point);
    if (defines(source, "Model"))
      return fail("its module defines a class Model beside {}, the entry point", entry_point);
    with_end_of_line(source);
    source += fmt::format("\n\nModel = {}\n", entry_point);
  }
  TRY_WITHIN("its module", curriculum::check_task_source(source));
  return source;
}

Result<std::string> as_kernel_source(std::string kernel, const std::string& entry_point) {
  if (kernel.size() > kMaxSourceBytes)
    return fail("its kernel has {} bytes, at most {} are judged", kernel.size(), kMaxSourceBytes);
  if (kernel.find('\0') != std::string::npos) return fail("its kernel is no text");
  define_helpers(kernel);
  if (defines(kernel, "ModelNew")) return kernel;
  std::string found;
  for (const std::string& name : {entry_point + "New", entry_point, std::string("Model")})
    if (found.empty() && is_identifier(name) && defines(kernel, name)) found = name;
  if (found.empty())
    return fail("its kernel defines no class ModelNew{}",
                entry_point == "Model" ? "" : fmt::format(", {0}New or {0}", entry_point));
  with_end_of_line(kernel);
  // A config reaches a solution as a plain dict.
  if (has_word(kernel, "_mock_config") && defines(kernel, "_mock_config"))
    kernel += fmt::format(
        "\n\nclass ModelNew({0}):\n\n    def __init__(self, *args, **kwargs):\n"
        "        given = lambda value: _mock_config(value) if type(value) is dict else value\n"
        "        super().__init__(*map(given, args), **{{k: given(v) for k, v in "
        "kwargs.items()}})\n",
        found);
  else
    kernel += fmt::format("\n\nModelNew = {}\n", found);
  return kernel;
}

std::string task_within(const std::string& text) {
  if (text.size() > 4 * kMaxSourceBytes) return {};
  const auto fences = text::find_fences(text, {0, text.size()});
  for (auto at = fences.rbegin(); at != fences.rend(); ++at) {
    std::string inside = text.substr(at->inside.begin, at->inside.end - at->inside.begin);
    if (at->is_python() && curriculum::check_task_source(inside)) return inside;
  }
  return curriculum::check_task_source(text) ? text : std::string();
}

}  // namespace tritonsmith::datasets
