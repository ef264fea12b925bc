#include <fmt/format.h>

#include "curriculum/teacher/kernel_text.h"

namespace tritonsmith::curriculum {
namespace {

// Returns the offset of the weight at inner index j and column c.
std::string weight_at(WeightLayout layout, const std::string& j, const std::string& c) {
  return layout == WeightLayout::k_by_n ? fmt::format("{} * n + {}", j, c)
                                        : fmt::format("{} * k + {}", c, j);
}

struct Product {
  const Piece& piece;
  const Dialect& dialect;
  WeightLayout layout;

  const Line& core() const { return piece.lines[*piece.core]; }
  std::string x() const { return core().operands[0]; }
  std::string weight() const { return core().operands[1]; }

  // Loads the inputs of the operators after the product, at rows r and columns c.
  Lines epilogue(const std::string& value) const {
    Lines lines = {fmt::format("{} = {}", core().target, value)};
    for (const Input& input : piece.loads) {
      if (input.name == weight() || input.shape == InputShape::left) continue;
      const bool row = input.shape == InputShape::row, column = input.shape == InputShape::column;
      lines.push_back(dialect.load(input.name,
                                   row      ? "c"
                                   : column ? "r"
                                            : "r * n + c",
                                   row      ? "c < n"
                                   : column ? "r < rows"
                                            : dialect.mask()));
    }
    append(lines, texts(piece, *piece.core + 1, piece.lines.size(), dialect));
    lines.push_back(dialect.store("r * n + c", piece.result, dialect.mask()));
    return lines;
  }

  // The sum over k and the operators after it, for given rows r [BM, 1] and columns c [1, BN].
  Lines tiles() const {
    const std::string other = dialect.terse ? ", 0" : ", other=0.0";
    Lines inner = {
        "j = start + tl.arange(0, BK)",
        fmt::format("{} = tl.load({} + r * k + j[None, :], {}(r < rows) & (j[None, :] < k){})", x(),
                    dialect.pointer("x"), dialect.terse ? "" : "mask=", other)};
    append(inner, texts(piece, 0, *piece.core, dialect));
    inner.push_back(fmt::format("{} = tl.load({} + {}, {}(j[:, None] < k) & (c < n){})", weight(),
                                dialect.pointer(weight()), weight_at(layout, "j[:, None]", "c"),
                                dialect.terse ? "" : "mask=", other));
    inner.push_back(
        fmt::format("acc = tl.dot({}, {}, acc, input_precision=\"ieee\")", x(), weight()));
    indent(inner);
    Lines body = {"acc = tl.zeros((BM, BN), tl.float32)", "for start in range(0, k, BK):"};
    append(body, inner);
    body.push_back(fmt::format("{} = (r < rows) & (c < n)", dialect.mask()));
    append(body, epilogue("acc"));
    return body;
  }
};

const std::vector<std::string> kSizes = {"rows", "n", "k"};

}  // namespace

KernelText tiled_product(const Piece& piece, const Dialect& dialect, WeightLayout layout) {
  Lines body = {"r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]",
                "c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]"};
  append(body, Product{piece, dialect, layout}.tiles());
  const int block = dialect.block;
  return {.definition = define(piece, dialect, body, kSizes, {"BM", "BN", "BK"}),
          .grid = fmt::format("(triton.cdiv(rows, {0}), triton.cdiv(n, {0}))", block),
          .arguments = {"rows", "n", "k", fmt::format("{}", block), fmt::format("{}", block),
                        fmt::format("{}", block >= 64 ? 32 : 16)}};
}

KernelText grouped_product(const Piece& piece, const Dialect& dialect, WeightLayout layout) {
  Lines body = {"pid = tl.program_id(0)",
                "tiles_n = tl.cdiv(n, BN)",
                "group = pid // (GROUP * tiles_n)",
                "height = tl.minimum(tl.cdiv(rows, BM) - group * GROUP, GROUP)",
                "inside = pid % (GROUP * tiles_n)",
                "pid_m = group * GROUP + inside % height",
                "pid_n = inside // height",
                "r = pid_m * BM + tl.arange(0, BM)[:, None]",
                "c = pid_n * BN + tl.arange(0, BN)[None, :]"};
  append(body, Product{piece, dialect, layout}.tiles());
  const int block = dialect.block;
  return {.definition = define(piece, dialect, body, kSizes, {"BM", "BN", "BK", "GROUP"}),
          .grid = fmt::format("(triton.cdiv(rows, {0}) * triton.cdiv(n, {0}),)", block),
          .arguments = {"rows", "n", "k", fmt::format("{}", block), fmt::format("{}", block),
                        fmt::format("{}", block >= 64 ? 32 : 16), "8"}};
}

KernelText row_product(const Piece& piece, const Dialect& dialect, WeightLayout layout) {
  const Product product{piece, dialect, layout};
  const std::string mask = dialect.mask();
  Lines inner = {fmt::format("{} = tl.load({} + r * k + j)", product.x(), dialect.pointer("x"))};
  append(inner, texts(piece, 0, *piece.core, dialect));
  inner.push_back(dialect.load(product.weight(), weight_at(layout, "j", "c"), mask));
  inner.push_back(fmt::format("acc += {} * {}", product.x(), product.weight()));
  indent(inner);
  Lines body = {"r = tl.program_id(0)", "c = tl.arange(0, BN)", fmt::format("{} = c < n", mask),
                "acc = tl.zeros((BN,), tl.float32)", "for j in range(0, k):"};
  append(body, inner);
  Lines rest = product.epilogue("acc");
  for (std::string& line : rest)  // in this kernel a row is never out of range
    if (const std::size_t at = line.find(", mask=r < rows"); at != std::string::npos)
      line.erase(at, 15);
  append(body, rest);
  return {.definition = define(piece, dialect, body, {"n", "k"}, {"BN"}),
          .grid = "(rows,)",
          .arguments = {"n", "k", "triton.next_power_of_2(n)"}};
}

}  // namespace tritonsmith::curriculum
