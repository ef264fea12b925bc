// Piece: the operators that one kernel computes, taken from a program's listing. It holds all
// operators, or those before or after a cut. A temporary tensor carries the value over the cut.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "curriculum/listing.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

struct Piece {
  std::string name;  // the kernel's name
  std::vector<Line> lines;
  // The variables that the lines read, by name. A temporary tensor stands among them under its
  // variable's name.
  std::vector<Input> loads;
  std::string result;               // the variable that the kernel stores
  std::optional<std::size_t> core;  // index of the row operator's line
  bool per_row = false;             // true after a reduction: one value for each row

  bool reduces() const { return core && describe(lines[*core].op).kind == OpKind::reduction; }
};

Piece whole_piece(const Program& program);

// Returns the operators of the lines in order: "relu, multiply, sum".
std::string operator_names(std::span<const Line> lines);

// Cuts a piece into two that share one temporary tensor. Returns nothing if the program cannot be
// cut.
std::optional<std::pair<Piece, Piece>> cut_in_two(const Piece& whole);

}  // namespace tritonsmith::curriculum
