#include "curriculum/teacher/solution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "curriculum/teacher/module_text.h"

namespace tritonsmith::curriculum {
namespace {

constexpr int kLongestTileRow = 2048;
// The longest row for one block. Beyond it a thread has many times more values than registers, and
// ptxas takes minutes.
constexpr int kLongestRow = 65536;

class SolutionWriter {
 public:
  SolutionWriter(const Program& program, Style style, TaskScale scale, Rng& rng)
      : program_(program), style_(style), scale_(scale), rng_(rng) {}

  std::optional<Solution> write() {
    const Piece whole = whole_piece(program_);
    std::vector<Launch> launches;
    if (style_ == Style::two_kernels || style_ == Style::pair) {
      auto halves = cut_in_two(whole);
      if (!halves) return std::nullopt;
      const Dialect dialect = spelling();
      launches.push_back({halves->first, kernel(halves->first, dialect)});
      launches.push_back({halves->second, kernel(halves->second, dialect)});
    } else {
      Piece named = whole;
      if (!is_terse()) named.name = kernel_name();
      const Dialect dialect = spelling();
      launches.push_back({named, kernel(named, dialect)});
    }
    std::string fusion;
    for (const Launch& launch : launches)
      fusion += (fusion.empty() ? "kernel: " : "; kernel: ") + operator_names(launch.piece.lines);
    return Solution{.thinking = thinking(whole),
                    .code = module_text(program_, launches, is_terse()),
                    .fusion = std::move(fusion)};
  }

 private:
  bool is_terse() const { return style_ == Style::compact || style_ == Style::pair; }

  std::string kernel_name() {
    static const std::vector<std::string> kNames = {"fused_kernel", "forward_kernel",
                                                    "model_kernel"};
    return program_.family == Family::elementwise
               ? rng_.pick(kNames)
               : std::string(name_of(program_.family)) + "_kernel";
  }

  int block() {
    static const std::vector<int> kSmall = {256, 512, 1024}, kLarge = {1024, 2048};
    if (program_.family == Family::matmul)
      return scale_ == TaskScale::gpu ? 64 : is_terse() ? 16 : rng_.below(2) == 0 ? 16 : 32;
    if (is_terse()) return 1024;
    if (style_ == Style::loop && program_.family != Family::elementwise)
      return scale_ == TaskScale::gpu ? 1024 : 128;
    return rng_.pick(scale_ == TaskScale::gpu ? kLarge : kSmall);
  }

  Dialect spelling() {
    if (is_terse()) return Dialect::short_names(block());
    static const std::vector<std::string> kOffsets = {"offsets", "offs", "idx"},
                                          kBlocks = {"BLOCK_SIZE", "BLOCK"},
                                          kOutputs = {"out_ptr", "output_ptr"};
    return {.terse = false,
            .helpers = style_ == Style::helpers,
            .autotune = style_ == Style::autotune,
            .block = block(),
            .output = rng_.pick(kOutputs),
            .block_name = rng_.pick(kBlocks),
            .offsets = rng_.pick(kOffsets)};
  }

  WeightLayout layout() const {
    return program_.linear ? WeightLayout::n_by_k : WeightLayout::k_by_n;
  }

  bool is_product(const Piece& piece) const {
    return piece.core && describe(piece.lines[*piece.core].op).kind == OpKind::matmul;
  }

  KernelText kernel(const Piece& piece, const Dialect& dialect) {
    if (is_product(piece)) {
      if (style_ == Style::rows) return row_product(piece, dialect, layout());
      return style_ == Style::loop ? grouped_product(piece, dialect, layout())
                                   : tiled_product(piece, dialect, layout());
    }
    if (style_ == Style::tiles) return tile_kernel(piece, dialect);
    if (piece.core)
      return style_ == Style::loop ? row_loop_kernel(piece, dialect) : row_kernel(piece, dialect);
    if (style_ == Style::rows) return row_kernel(piece, dialect);
    return style_ == Style::loop ? grid_stride_kernel(piece, dialect) : flat_kernel(piece, dialect);
  }

  std::string way() const {
    const bool elementwise = program_.family == Family::elementwise,
               matmul = program_.family == Family::matmul;
    switch (style_) {
      case Style::compact:
      case Style::pair:
        return "";
      case Style::flat:
        return "Each program takes one block of the flattened tensor; the last block is masked.";
      case Style::rows:
        return matmul ? "Each program computes one row of the output, going through k one by one."
                      : "Each program takes one row, padded to a power of two and masked.";
      case Style::tiles:
        return matmul ? "Each program computes one tile of the output in fp32, in steps along k."
                      : "Each program takes a tile of several rows; rows and columns are masked.";
      case Style::loop:
        return matmul ? "Tiles of the output are visited in groups of rows, so that the weights "
                        "stay in cache."
               : elementwise ? "A fixed number of programs stride over the blocks."
                             : "Each program goes through its row block by block, once for each "
                               "quantity it needs.";
      case Style::helpers:
        return "Each operator gets a small jit function; one kernel calls them.";
      case Style::two_kernels:
        return "A first kernel leaves its result in a temporary tensor, a second one finishes.";
      case Style::autotune:
        return "Several configurations are tried, and the fastest is kept.";
    }
    return "";
  }

  std::string thinking(const Piece& whole) const {
    if (is_terse()) return operator_names(whole.lines);
    const std::string loads = program_.inputs.size() == 1 ? "x" : "the inputs";
    return fmt::format("Load {}, then apply {}, all in registers, and store once. {}", loads,
                       operator_names(whole.lines), way());
  }

  const Program& program_;
  Style style_;
  TaskScale scale_;
  Rng& rng_;
};

}  // namespace

std::vector<Style> styles_for(const Program& program, const Sizes& sizes, TaskScale scale) {
  std::vector<Style> styles = {Style::compact, Style::loop, Style::helpers};
  const bool gpu = scale == TaskScale::gpu, matmul = program.family == Family::matmul;
  const bool one_long_row = sizes.lead.empty() && gpu;
  if (program.family == Family::elementwise) styles.push_back(Style::flat);
  const bool fits_a_block = sizes.n <= kLongestRow;
  if (matmul ? !gpu : !one_long_row && fits_a_block) styles.push_back(Style::rows);
  if (matmul || (find_core(program.root) ? sizes.n <= kLongestTileRow : fits_a_block))
    styles.push_back(Style::tiles);
  if (cut_in_two(whole_piece(program)))
    styles.insert(styles.end(), {Style::two_kernels, Style::pair});
  if (gpu) styles.push_back(Style::autotune);
  std::sort(styles.begin(), styles.end());
  return styles;
}

std::optional<Solution> write_solution(const Program& program, Style style, TaskScale scale,
                                       Rng& rng) {
  return SolutionWriter(program, style, scale, rng).write();
}

}  // namespace tritonsmith::curriculum
