#include "curriculum/teacher/piece.h"

#include <algorithm>
#include <set>

namespace tritonsmith::curriculum {
namespace {

std::optional<std::size_t> core_of(const std::vector<Line>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (describe(lines[i].op).value == nullptr) return i;
  return std::nullopt;
}

// Returns the variables that lines [from, end) read before they write them.
std::set<std::string> read_by(const std::vector<Line>& lines, std::size_t from, std::size_t end) {
  std::set<std::string> read, written;
  for (std::size_t i = from; i < end; ++i) {
    for (const std::string& operand : lines[i].operands)
      if (!written.contains(operand)) read.insert(operand);
    written.insert(lines[i].target);
  }
  return read;
}

// A cut is possible if the second half reads only the result of line at - 1 and unchanged inputs.
bool can_cut(const std::vector<Line>& lines, std::size_t at) {
  std::set<std::string> changed;
  for (std::size_t i = 0; i < at; ++i) changed.insert(lines[i].target);
  const std::set<std::string> needed = read_by(lines, at, lines.size());
  return needed.contains(lines[at - 1].target) &&
         std::none_of(needed.begin(), needed.end(), [&](const std::string& name) {
           return name != lines[at - 1].target && changed.contains(name);
         });
}

Piece part_of(const Piece& whole, std::size_t from, std::size_t end) {
  Piece part{.name = "",
             .lines = {whole.lines.begin() + static_cast<std::ptrdiff_t>(from),
                       whole.lines.begin() + static_cast<std::ptrdiff_t>(end)},
             .loads = {},
             .result = end == whole.lines.size() ? whole.result : whole.lines[end - 1].target,
             .core = {},
             .per_row = false};
  part.core = core_of(part.lines);
  const std::set<std::string> needed = read_by(whole.lines, from, end);
  if (from > 0)
    part.loads.push_back({.name = whole.lines[from - 1].target, .shape = InputShape::full});
  for (const Input& input : whole.loads)
    if (needed.contains(input.name) && (from == 0 || input.name != part.loads[0].name))
      part.loads.push_back(input);
  return part;
}

}  // namespace

Piece whole_piece(const Program& program) {
  std::vector<std::string> names;
  for (const Input& input : program.inputs) names.push_back(input.name);
  Listing listing = list_operators(program.root, names, "");
  Piece piece{.name = "kernel",
              .lines = std::move(listing.lines),
              .loads = program.inputs,
              .result = listing.result,
              .core = {},
              .per_row = false};
  piece.core = core_of(piece.lines);
  return piece;
}

std::string operator_names(std::span<const Line> lines) {
  std::string names;
  for (const Line& line : lines)
    names += (names.empty() ? "" : ", ") + std::string(describe(line.op).name);
  return names;
}

std::optional<std::pair<Piece, Piece>> cut_in_two(const Piece& whole) {
  std::vector<std::size_t> positions;
  if (whole.core)
    positions = {*whole.core, *whole.core + 1};
  else
    positions = {whole.lines.size() / 2, 1};
  for (const std::size_t at : positions) {
    if (at == 0 || at >= whole.lines.size() || !can_cut(whole.lines, at)) continue;
    Piece first = part_of(whole, 0, at), second = part_of(whole, at, whole.lines.size());
    // A matrix product stays in one piece with the operators before it.
    if (second.core && describe(second.lines[*second.core].op).kind == OpKind::matmul) continue;
    first.name = "first_kernel";
    second.name = "second_kernel";
    second.per_row = first.reduces();
    return std::pair(std::move(first), std::move(second));
  }
  return std::nullopt;
}

}  // namespace tritonsmith::curriculum
