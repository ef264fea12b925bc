// Kernel text: one piece of a program as a Triton kernel, with how it is launched. The writers of
// this folder differ in what a program of the grid takes on: a block of the flat tensor, a row,
// some rows, a row in blocks.
#pragma once

#include <string>
#include <vector>

#include "curriculum/teacher/piece.h"

namespace tritonsmith::curriculum {

// How code is spelt.
struct Dialect {
  bool terse = false;     // one-letter names, positional masks
  bool helpers = false;   // each operator in a function of its own
  bool autotune = false;  // block or warps chosen by triton.autotune
  int block = 1024;
  std::string output = "out_ptr";
  std::string block_name = "BLOCK_SIZE";
  std::string offsets = "offsets";

  static Dialect short_names(int block);

  // The kernel's name for the tensor that variable `name` is loaded from: "X" or "x_ptr".
  std::string pointer(const std::string& name) const;
  std::string mask() const { return terse ? "m" : "mask"; }
  std::string load(const std::string& name, const std::string& at, const std::string& mask) const;
  std::string store(const std::string& at, const std::string& value, const std::string& mask) const;
};

struct KernelText {
  std::string definition;              // helpers, decorators and the function
  std::string grid;                    // "(triton.cdiv(size, 1024),)"
  std::vector<std::string> arguments;  // behind the tensors: "size", "n", "1024"
};

// In grids and arguments, `size` is x.numel(), `n` its last dimension, `rows` size // n, `k` what a
// product sums over.
KernelText flat_kernel(const Piece& piece,
                       const Dialect& dialect);  // one block of elements a program
KernelText grid_stride_kernel(const Piece& piece,
                              const Dialect& dialect);  // a few programs, many blocks each
KernelText row_kernel(const Piece& piece, const Dialect& dialect);   // a whole row a program
KernelText tile_kernel(const Piece& piece, const Dialect& dialect);  // several rows a program
KernelText row_loop_kernel(const Piece& piece,
                           const Dialect& dialect);  // a row a program, block by block

enum class WeightLayout { k_by_n, n_by_k };
KernelText tiled_product(const Piece& piece, const Dialect& dialect, WeightLayout layout);
KernelText grouped_product(const Piece& piece, const Dialect& dialect,
                           WeightLayout layout);  // L2-friendly order
KernelText row_product(const Piece& piece, const Dialect& dialect,
                       WeightLayout layout);  // no tl.dot

// Parts that the writers share.
using Lines = std::vector<std::string>;
std::string line_text(const Line& line, const Dialect& dialect);  // "x = tl.maximum(x, 0)"
Lines texts(const Piece& piece, std::size_t from, std::size_t end, const Dialect& dialect);
std::string define(const Piece& piece, const Dialect& dialect, const Lines& body,
                   const std::vector<std::string>& sizes,
                   const std::vector<std::string>& constants);
void indent(Lines& lines);
void append(Lines& lines, const Lines& more);

}  // namespace tritonsmith::curriculum
