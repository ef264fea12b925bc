// Piece: the operators that one kernel computes, cut from a program's listing: all of them, or
// those before or after a point where a temporary tensor carries the value over.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "curriculum/listing.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

struct Piece {
  std::string name;  // of the kernel
  std::vector<Line> lines;
  std::vector<Input> loads;  // what the lines read, variables by name; a temporary is among them
                             // under its variable's name
  std::string result;        // the variable that is stored
  std::optional<std::size_t> core;  // which line is the row operator
  bool per_row = false;             // works on one value a row: what follows a reduction

  bool reduces() const { return core && describe(lines[*core].op).kind == OpKind::reduction; }
};

Piece whole_piece(const Program& program);

// "relu, multiply, sum": what the lines do, in order.
std::string operator_names(std::span<const Line> lines);

// Two pieces that meet at one temporary; nothing where the program cannot be cut.
std::optional<std::pair<Piece, Piece>> cut_in_two(const Piece& whole);

}  // namespace tritonsmith::curriculum
