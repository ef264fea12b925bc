// Solution: a program as a complete Triton module, ModelNew, in one of several styles. Every
// solution is correct for all shapes of the task's rank. Under the strict policy torch only
// allocates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

enum class Style {
  compact,      // as few tokens as possible, with one-letter names
  flat,         // one program for each block of the flat tensor
  rows,         // one program for each row
  tiles,        // one program for several rows; for products, tiles of the output
  loop,         // a program loops over blocks; for products, grouped order of tiles
  helpers,      // each operator is a function
  two_kernels,  // two kernels with a temporary tensor between them
  autotune,     // triton.autotune chooses block or warps
  pair,         // compact, in two kernels with a temporary tensor between them
};

// Returns the styles that fit this program at these sizes, at least four.
std::vector<Style> styles_for(const Program& program, const Sizes& sizes, TaskScale scale);

struct Solution {
  std::string thinking;  // a sentence or two before the code
  std::string code;
  // The operators of each kernel: "kernel: relu, tanh; kernel: sum".
  std::string fusion;
};

// `rng` varies names and block sizes. Returns nothing if the style does not fit.
std::optional<Solution> write_solution(const Program& program, Style style, TaskScale scale,
                                       Rng& rng);

}  // namespace tritonsmith::curriculum

namespace tritonsmith {
template <>
inline constexpr auto enum_names<curriculum::Style> =
    names<curriculum::Style>({{curriculum::Style::compact, "compact"},
                              {curriculum::Style::flat, "flat"},
                              {curriculum::Style::rows, "rows"},
                              {curriculum::Style::tiles, "tiles"},
                              {curriculum::Style::loop, "loop"},
                              {curriculum::Style::helpers, "helpers"},
                              {curriculum::Style::two_kernels, "two_kernels"},
                              {curriculum::Style::autotune, "autotune"},
                              {curriculum::Style::pair, "pair"}});
}  // namespace tritonsmith
