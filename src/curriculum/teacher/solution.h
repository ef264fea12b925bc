// Solution: a program as a complete Triton module, ModelNew, in one of several styles. Every
// solution is correct for all shapes of the task's rank; under the strict policy torch only
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
  compact,      // as few tokens as possible: one-letter names
  flat,         // one block of the flat tensor a program
  rows,         // one row a program
  tiles,        // some rows a program; for products, tiles of the output
  loop,         // a program loops over blocks; for products, grouped order of tiles
  helpers,      // each operator a function
  two_kernels,  // a temporary between two kernels
  autotune,     // triton.autotune chooses block or warps
  pair,         // compact, with a temporary between two kernels
};

// The styles that this program can be written in at these sizes, at least four.
std::vector<Style> styles_for(const Program& program, const Sizes& sizes, TaskScale scale);

struct Solution {
  std::string plan;  // a sentence or two before the code
  std::string code;
  // Which operators each kernel computes: "kernel: relu, tanh; kernel: sum".
  std::string fusion;
};

// `rng` varies names and block sizes. Nothing when the style does not fit.
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
