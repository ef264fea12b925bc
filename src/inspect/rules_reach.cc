// Rules about code that reaches for something without writing its name: builtins that run text or
// read names, handed over as values; names in strings; modules that no kernel needs. The guest
// refuses what is reached in this way as well, so these rules only find it early.
#include <algorithm>
#include <array>
#include <cctype>

#include "inspect/imports.h"
#include "inspect/output.h"
#include "inspect/rules.h"
#include "inspect/triton_names.h"

namespace tritonsmith::inspect {
namespace {

using Words = std::span<const std::string_view>;

bool is_one_of(std::string_view word, Words words) {
  return std::ranges::find(words, word) != words.end();
}

// Builtins that run text as code.
constexpr auto kRunners =
    std::to_array<std::string_view>({"eval", "exec", "compile", "__import__"});
// Builtins that are harmless where their arguments stand beside them, and only there.
constexpr auto kNameReaders = std::to_array<std::string_view>(
    {"getattr", "setattr", "delattr", "globals", "locals", "vars", "open"});
// Attributes that lead from an object into the process that runs it.
constexpr auto kInnerNames = std::to_array<std::string_view>(
    {"__globals__", "__code__",         "__closure__",  "__builtins__",  "__subclasses__",
     "__loader__",  "__spec__",         "__mro__",      "__bases__",     "__class__",
     "__reduce__",  "__getattribute__", "f_locals",     "f_globals",     "f_back",
     "f_builtins",  "f_code",           "tb_frame",     "tb_next",       "gi_frame",
     "cr_frame",    "ag_frame",         "gi_code",      "cr_code",       "__traceback__",
     "__import__",  "__reduce_ex__",    "__wrapped__",  "cell_contents", "__self__",
     "FakeTensor",  "FakeTensorMode",   "fake_mode",    "fake_device",   "detect_fake_mode",
     "findCaller",  "stack_info",       "from_address", "from_buffer",   "in_dll"});
// Their use as an attribute is common in honest code, or has a rule of its own.
constexpr auto kCommonAsAttribute =
    std::to_array<std::string_view>({"__class__", "__wrapped__", "__self__", "__import__"});

// Tells whether the name is that of a class or a function that the file defines, and nothing else: a file may
// have a FakeTensor of its own.
bool is_its_own(const Candidate& candidate, NodeId identifier, const std::string& name) {
  const SyntaxTree& tree = candidate.tree;
  return !name.starts_with('_') && candidate.defines(name) &&
         !(tree.is(tree[identifier].parent, "attribute") &&
           tree[identifier].field == "attribute") &&
         std::ranges::none_of(candidate.names.imports(), [&](const auto& import) {
           return candidate.names.bound_name(import.first) == name;
         });
}

// Tells whether a string is prose, or a kernel's text, which is inspected by itself.
bool is_no_name(const Candidate& candidate, NodeId string) {
  const SyntaxTree& tree = candidate.tree;
  const NodeId around = tree[string].parent;
  return tree.is(around, "expression_statement") ||
         std::ranges::find(candidate.kernel_strings, tree[around].parent) !=
             candidate.kernel_strings.end();
}

// Returns the part of a text that stands at the bounds of words, or an empty view.
std::string_view inner_name_in(std::string_view text) {
  const auto is_word = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (const std::string_view name : kInnerNames)
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
      if (!is_word(at - 1) && !is_word(at + name.size())) return name;
  return {};
}

// Tells whether a literal spells a letter by its number, as "\x5f" spells an underscore.
bool spells_letters_by_number(const SyntaxTree& tree, NodeId string) {
  for (NodeId id = string; id < tree[string].after; ++id) {
    const std::string_view text = tree.text(id);
    if (!tree.is(id, "escape_sequence") || text.size() < 4) continue;
    const bool hexadecimal = text[1] == 'x' || text[1] == 'u' || text[1] == 'U';
    const bool octal = text[1] >= '0' && text[1] <= '7';
    if (!hexadecimal && !octal) continue;
    const std::string digits(text.substr(hexadecimal ? 2 : 1));
    const long code = std::strtol(digits.c_str(), nullptr, hexadecimal ? 16 : 8);
    if (code < 128 && (std::isalnum(static_cast<int>(code)) != 0 || code == '_')) return true;
  }
  return false;
}

}  // namespace

// Reports a builtin that is handed over: max(texts, key=eval), @eval, reduce(getattr, names, x).
// A name that is written here and called elsewhere hides what it is called with.
void find_builtins_as_values(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  for (const Use& use : candidate.uses) {
    if (!tree.is(use.node, "identifier") || use.assigned) continue;
    const bool runs = is_one_of(use.path, kRunners);
    const bool reads = !use.called && is_one_of(use.path, kNameReaders);
    if ((runs || reads) && !candidate.is_local(use.node))
      matches.add(use.node,
                  runs ? fmt::format("`{}` runs code that cannot be inspected", use.path)
                       : fmt::format("`{}` is handed over, which hides what it reads", use.path));
  }
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "call") || !candidate.is_live(id)) continue;
    const std::string path = candidate.names.resolve(tree.child(id, "function")).path;
    const auto arguments = tree.children(tree.child(id, "arguments"));
    const bool picks = path == "operator.attrgetter" || path == "operator.methodcaller";
    if (picks && (arguments.empty() || literal_text(tree, arguments[0]).empty()))
      matches.add(id, fmt::format("`{}` of a computed name hides what it reads", path));
  }
}

// Reports async_compile.triton("name", text) whose text is not written out there.
void find_computed_kernel_texts(const Candidate& candidate, Matches& matches) {
  const bool compiles = std::ranges::any_of(candidate.uses, [](const Use& use) {
    return is_or_is_in(use.path, "torch._inductor.async_compile");
  });
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; compiles && id < tree.size(); ++id) {
    const NodeId function = tree.is(id, "call") ? tree.child(id, "function") : kNoNode;
    if (tree.is(function, "attribute") &&
        candidate.text(tree.child(function, "attribute")) == kTriton &&
        std::ranges::find(candidate.kernel_strings, id) == candidate.kernel_strings.end())
      matches.add(id, "a kernel's text is computed, so nobody can inspect it");
  }
}

namespace {

// Returns what a literal writes out, without the expressions of an f-string: those are code, which
// other rules read.
std::string written_text(const SyntaxTree& tree, NodeId literal) {
  std::string text;
  for (const NodeId part : tree.children(literal)) {
    if (tree.is(part, "string")) text += written_text(tree, part);
    if (tree.is(part, "string_content")) text += tree.text(part);
  }
  return text;
}

}  // namespace

// Reports strings that name inner attributes or modules, as for getattr and format.
void find_names_in_strings(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    const bool is_literal = tree.is(id, "string") || tree.is(id, "concatenated_string");
    if (!is_literal || !candidate.is_live(id) || is_no_name(candidate, id)) continue;
    const std::string text = literal_text(tree, id);
    if (const std::string_view name = inner_name_in(written_text(tree, id)); !name.empty())
      matches.add(id, fmt::format("`{}` in a string looks into the process that runs it", name));
    if (text == "Fake" || text == "fake" || text == "faketensor")
      matches.add(id, "asks whether this is a capture");
    const NodeId around = tree[id].parent;
    const NodeId call = tree.is(around, "argument_list") ? tree[around].parent : kNoNode;
    const bool picks =
        tree.is(call, "call") &&
        last_part(candidate.names.resolve(tree.child(call, "function")).path) == "attrgetter";
    const std::string first = text.substr(0, text.find('.'));
    if ((picks || tree.is(around, "subscript")) && is_top_module(first) && first != "torch" &&
        first != kTriton && first != "operator" && first != "io")
      matches.add(id, fmt::format("`{}` in a string names a module", first));
  }
}

void find_inner_attributes(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "identifier") || !candidate.is_live(id)) continue;
    const std::string name = normal_identifier(candidate.text(id));
    if (is_one_of(name, kInnerNames) && !is_one_of(name, kCommonAsAttribute) &&
        !is_its_own(candidate, id, name))
      matches.add(id, fmt::format("`{}` looks into the process that runs it", name));
    // x().sys, where nobody knows what x() is.
    const NodeId whole = tree[id].parent;
    const bool is_attribute = tree.is(whole, "attribute") && tree[id].field == "attribute";
    if (is_attribute && (name == "sys" || name == "builtins" || name == "importlib") &&
        candidate.text(tree.child(whole, "object")) != "self")
      matches.add(id, fmt::format("`{}` of another object is a module of Python", name));
  }
}

void find_spelled_letters(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id)
    if (tree.is(id, "string") && spells_letters_by_number(tree, id))
      matches.add(id, "a string spells letters by their numbers");
}

void find_unlisted_imports(const Candidate& candidate, Matches& matches) {
  for (const Use& use : candidate.uses) {
    if (!candidate.names.imports().contains(use.node) || is_listed_module(use.path) ||
        guards_against_threads(use.path))
      continue;
    if (is_idle_import(candidate, use) || is_optional_import(candidate, use.node)) continue;
    if (only_prints_or_tidies(candidate, use.path)) continue;
    matches.add(use.node, fmt::format("no kernel needs `{}`", use.path));
  }
}

}  // namespace tritonsmith::inspect
