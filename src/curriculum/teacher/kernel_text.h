// Writes one piece of a program as a Triton kernel, with its launch. The writers differ in the work
// of one Triton program: a block of the flat tensor, one row, several rows, or a row in blocks.
#pragma once

#include <string>
#include <vector>

#include "curriculum/teacher/piece.h"

namespace tritonsmith::curriculum {

// The style of the code.
struct Dialect {
  bool terse = false;     // one-letter names, positional masks
  bool helpers = false;   // each operator is a function
  bool autotune = false;  // triton.autotune chooses the block size or the warps
  int block = 1024;
  std::string output = "out_ptr";
  std::string block_name = "BLOCK_SIZE";
  std::string offsets = "offsets";

  static Dialect short_names(int block);

  // Returns the kernel's name for the tensor from which variable `name` is loaded: "X" or "x_ptr".
  std::string pointer(const std::string& name) const;
  std::string mask() const { return terse ? "m" : "mask"; }
  std::string load(const std::string& name, const std::string& at, const std::string& mask) const;
  std::string store(const std::string& at, const std::string& value, const std::string& mask) const;
};

struct KernelText {
  std::string definition;              // helper functions, decorators and the kernel function
  std::string grid;                    // "(triton.cdiv(size, 1024),)"
  std::vector<std::string> arguments;  // the arguments after the tensors: "size", "n", "1024"
};

// Names in grids and arguments: `size` is x.numel(), `n` its last dimension, `rows` is size // n,
// and `k` is the inner dimension of a product.
//
// Each Triton program computes one block of elements.
KernelText flat_kernel(const Piece& piece, const Dialect& dialect);
// A few programs compute many blocks each.
KernelText grid_stride_kernel(const Piece& piece, const Dialect& dialect);
// Each program computes a whole row.
KernelText row_kernel(const Piece& piece, const Dialect& dialect);
// Each program computes several rows.
KernelText tile_kernel(const Piece& piece, const Dialect& dialect);
// Each program computes one row, block by block.
KernelText row_loop_kernel(const Piece& piece, const Dialect& dialect);

enum class WeightLayout { k_by_n, n_by_k };
KernelText tiled_product(const Piece& piece, const Dialect& dialect, WeightLayout layout);
// Orders the tiles for reuse in the L2 cache.
KernelText grouped_product(const Piece& piece, const Dialect& dialect, WeightLayout layout);
// Computes rows without tl.dot.
KernelText row_product(const Piece& piece, const Dialect& dialect, WeightLayout layout);

// Parts that several writers use.
using Lines = std::vector<std::string>;
std::string line_text(const Line& line, const Dialect& dialect);  // "x = tl.maximum(x, 0)"
Lines texts(const Piece& piece, std::size_t from, std::size_t end, const Dialect& dialect);
std::string define(const Piece& piece, const Dialect& dialect, const Lines& body,
                   const std::vector<std::string>& sizes,
                   const std::vector<std::string>& constants);
void indent(Lines& lines);
void append(Lines& lines, const Lines& more);

}  // namespace tritonsmith::curriculum
