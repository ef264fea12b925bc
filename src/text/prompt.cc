#include "text/prompt.h"

#include <algorithm>

namespace tritonsmith::text {
namespace {

constexpr std::string_view kInterface =
    "Define a class `ModelNew` that takes the same constructor arguments and the same inputs of "
    "`forward` as\n"
    "`Model` does, and returns the same outputs. Parameters keep their names and shapes. Do every "
    "computation in\n"
    "your own `@triton.jit` kernels, launched from `forward`; use torch only to allocate and "
    "reshape.\n\n"
    "First think about how to compute it between <thinking> and </thinking>. Then give the whole "
    "Python file,\n"
    "imports included, as one code block between <answer> and </answer>:\n\n"
    "<thinking>\n...\n</thinking>\n<answer>\n```python\n...\n```\n</answer>\n";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string_view unindented(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t\r\n"), line.size()));
}

bool is_import(std::string_view line) {
  return line.starts_with("import ") || line.starts_with("from ");
}

bool toggles_docstring(std::string_view line) {
  std::size_t quotes = 0;
  for (const std::string_view mark : {R"(""")", "'''"})
    for (std::size_t at = line.find(mark); at != std::string_view::npos;
         at = line.find(mark, at + 3))
      ++quotes;
  return quotes % 2 == 1;
}

// Tells whether the block that begins with this unindented line describes the inputs.
bool begins_input_fact(std::string_view line) {
  if (line.starts_with("def "))
    return line.starts_with("def get_inputs") || line.starts_with("def get_init_inputs");
  const bool other = is_import(line) || line.starts_with("class ") || line.starts_with("@") ||
                     line.starts_with("#") || line.starts_with("\"") || line.starts_with("'") ||
                     line.starts_with("if ");
  return !other;
}

std::string implementation(const Task& task, PromptStyle style) {
  if (style == PromptStyle::compact) return task.instruction;
  return fmt::format(
      "Write a Triton kernel for this operation, which a PyTorch module `Model` computes.\n\n{}\n\n"
      "Its inputs are made so:\n\n```python\n{}```\n\n{}",
      task.instruction, input_facts(task.source), kInterface);
}

std::string conversion(const Task& task, PromptStyle style) {
  if (style == PromptStyle::compact) return without_padding(task.source);
  return fmt::format("Turn this PyTorch module into a Triton kernel.\n\n```python\n{}{}```\n\n{}",
                     task.source, task.source.ends_with('\n') ? "" : "\n", kInterface);
}

}  // namespace

Fields<PromptConfig> PromptConfig::fields() {
  return {
      field("kind", &PromptConfig::kind,
            "What a prompt shows: the task's instruction, its source, or (automatic) the "
            "instruction where there is one."),
      field("style", &PromptConfig::style,
            "The style `full` explains the form of the answer, `compact` does not."),
      field("system", &PromptConfig::system, "A system message before each prompt. Empty: none.")};
}

std::vector<Message> prompt_for(const Task& task, const PromptConfig& config) {
  const bool convert = config.kind == PromptKind::conversion || task.instruction.empty();
  std::vector<Message> messages;
  if (!config.system.empty()) messages.push_back({Role::system, config.system});
  messages.push_back(
      {Role::user, convert ? conversion(task, config.style) : implementation(task, config.style)});
  return messages;
}

std::string input_facts(std::string_view source) {
  std::string facts;
  bool wanted = false, in_docstring = false;
  for (const std::string_view line : lines_of(source)) {
    const bool continues_docstring = in_docstring;
    if (toggles_docstring(line)) in_docstring = !in_docstring;
    const std::string_view text = unindented(line);
    if (text.empty()) continue;
    const bool top_level = text.size() == line.size() && !continues_docstring &&
                           !line.starts_with(')') && !line.starts_with(']') &&
                           !line.starts_with('}');
    if (top_level) wanted = begins_input_fact(line);
    if (wanted) facts += line;
  }
  if (!facts.empty() && facts.back() != '\n') facts += '\n';
  return facts;
}

std::string without_padding(std::string_view source) {
  std::string kept;
  for (const std::string_view line : lines_of(source)) {
    const std::string_view text = unindented(line);
    if (text.empty() || text.starts_with('#') || is_import(line)) continue;
    kept += line;
  }
  while (kept.ends_with('\n')) kept.pop_back();
  return kept;
}

}  // namespace tritonsmith::text
