#include "curriculum/teacher/kernel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <map>

#include "curriculum/teacher/triton_forms.h"

namespace tritonsmith::curriculum {
namespace {

// Operators for which a helper function would only hide the code.
bool stays_inline(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::neg:
    case Op::add_constant:
    case Op::mul_constant:
    case Op::div_constant:
    case Op::subtract_from:
      return true;
    default:
      return describe(op).value == nullptr;
  }
}

std::string helper_name(Op op) {
  // A name that would hide one of Python's or of the kernel's gets an underscore.
  const std::string name(describe(op).name);
  return name == "abs" || name == "max" || name == "min" ? name + "_" : name;
}

std::string helpers_for(const Piece& piece) {
  std::map<std::string, std::string> definitions;
  for (const Line& line : piece.lines) {
    if (stays_inline(line.op)) continue;
    const bool binary = line.operands.size() > 1;
    Line inner = line;
    inner.operands = {"x", "y"};
    definitions[helper_name(line.op)] =
        fmt::format("@triton.jit\ndef {}({}):\n    return {}\n\n\n", helper_name(line.op),
                    binary ? "x, y" : "x", fill_in(triton_form(line.op), inner));
  }
  std::string text;
  for (const auto& [name, definition] : definitions) text += definition;
  return text;
}

std::string autotune_decorator(const Dialect& dialect, const std::vector<std::string>& sizes,
                               bool block_is_tuned) {
  std::string configs;
  for (const int factor : {1, 2, 4})
    configs += fmt::format(
        "        triton.Config({{{}}}, num_warps={}),\n",
        block_is_tuned ? fmt::format("\"{}\": {}", dialect.block_name, dialect.block * factor) : "",
        factor * 2);
  return fmt::format("@triton.autotune(\n    configs=[\n{}    ],\n    key=[\"{}\"],\n)\n", configs,
                     sizes[0]);
}

}  // namespace

Dialect Dialect::short_names(int block) {
  return {.terse = true,
          .helpers = false,
          .autotune = false,
          .block = block,
          .output = "O",
          .block_name = "B",
          .offsets = "i"};
}

std::string Dialect::pointer(const std::string& name) const {
  if (!terse) return name + "_ptr";
  std::string capital = name;
  capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[0])));
  return capital;
}

std::string Dialect::load(const std::string& name, const std::string& at,
                          const std::string& mask) const {
  if (mask.empty()) return fmt::format("{} = tl.load({} + {})", name, pointer(name), at);
  return fmt::format("{} = tl.load({} + {}, {}{})", name, pointer(name), at,
                     terse ? "" : "mask=", mask);
}

std::string Dialect::store(const std::string& at, const std::string& value,
                           const std::string& mask) const {
  if (mask.empty()) return fmt::format("tl.store({} + {}, {})", output, at, value);
  return fmt::format("tl.store({} + {}, {}, {}{})", output, at, value, terse ? "" : "mask=", mask);
}

std::string line_text(const Line& line, const Dialect& dialect) {
  if (dialect.helpers && !stays_inline(line.op))
    return fmt::format("{} = {}({})", line.target, helper_name(line.op),
                       fmt::join(line.operands, ", "));
  return fmt::format("{} = {}", line.target, fill_in(triton_form(line.op), line));
}

Lines texts(const Piece& piece, std::size_t from, std::size_t end, const Dialect& dialect) {
  Lines lines;
  for (std::size_t i = from; i < end; ++i) lines.push_back(line_text(piece.lines[i], dialect));
  return lines;
}

std::string define(const Piece& piece, const Dialect& dialect, const Lines& body,
                   const std::vector<std::string>& sizes,
                   const std::vector<std::string>& constants) {
  std::vector<std::string> parameters;
  for (const Input& input : piece.loads) parameters.push_back(dialect.pointer(input.name));
  parameters.push_back(dialect.output);
  parameters.insert(parameters.end(), sizes.begin(), sizes.end());
  for (const std::string& each : constants) parameters.push_back(each + ": tl.constexpr");
  std::string text = dialect.helpers ? helpers_for(piece) : std::string();
  const bool whole_rows = piece.core.has_value();
  if (dialect.autotune) text += autotune_decorator(dialect, sizes, !whole_rows);
  text += fmt::format("@triton.jit\ndef {}({}):\n", piece.name, fmt::join(parameters, ", "));
  for (const std::string& line : body) text += "    " + line + "\n";
  return text;
}

void indent(Lines& lines) {
  for (std::string& line : lines) line.insert(0, "    ");
}

void append(Lines& lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

}  // namespace tritonsmith::curriculum
