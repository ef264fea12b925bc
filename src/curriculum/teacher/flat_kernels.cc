#include <fmt/format.h>

#include <algorithm>

#include "curriculum/teacher/kernel_text.h"

namespace tritonsmith::curriculum {
namespace {

bool broadcasts(const Piece& piece) {
  return std::any_of(piece.loads.begin(), piece.loads.end(),
                     [](const Input& input) { return input.shape != InputShape::full; });
}

// Loads, operators and the store of one block of the flat tensor.
Lines block_body(const Piece& piece, const Dialect& dialect) {
  const std::string &offsets = dialect.offsets, mask = dialect.mask();
  Lines body = {fmt::format("{} = {} < size", mask, offsets)};
  for (const Input& input : piece.loads) {
    const bool row = input.shape == InputShape::row, column = input.shape == InputShape::column;
    body.push_back(dialect.load(input.name,
                                offsets + (row      ? " % n"
                                           : column ? " // n"
                                                    : ""),
                                mask));
  }
  append(body, texts(piece, 0, piece.lines.size(), dialect));
  body.push_back(dialect.store(offsets, piece.result, mask));
  return body;
}

KernelText launch_of(const Piece& piece, const Dialect& dialect, std::string definition) {
  const std::string size = piece.per_row ? "rows" : "size";
  KernelText text{.definition = std::move(definition), .grid = "", .arguments = {size}};
  if (broadcasts(piece)) text.arguments.emplace_back("n");
  if (!dialect.autotune) text.arguments.push_back(fmt::format("{}", dialect.block));
  text.grid = dialect.autotune ? fmt::format("lambda meta: (triton.cdiv({}, meta[\"{}\"]),)", size,
                                             dialect.block_name)
                               : fmt::format("(triton.cdiv({}, {}),)", size, dialect.block);
  return text;
}

std::vector<std::string> sizes_of(const Piece& piece) {
  return broadcasts(piece) ? std::vector<std::string>{"size", "n"}
                           : std::vector<std::string>{"size"};
}

}  // namespace

KernelText flat_kernel(const Piece& piece, const Dialect& dialect) {
  const std::string& block = dialect.block_name;
  Lines body;
  if (dialect.terse) {
    body = {
        fmt::format("{0} = tl.program_id(0) * {1} + tl.arange(0, {1})", dialect.offsets, block)};
  } else {
    body = {"pid = tl.program_id(axis=0)",
            fmt::format("{0} = pid * {1} + tl.arange(0, {1})", dialect.offsets, block)};
  }
  append(body, block_body(piece, dialect));
  return launch_of(piece, dialect, define(piece, dialect, body, sizes_of(piece), {block}));
}

KernelText grid_stride_kernel(const Piece& piece, const Dialect& dialect) {
  const std::string& block = dialect.block_name;
  Lines inner = {fmt::format("{} = start + tl.arange(0, {})", dialect.offsets, block)};
  append(inner, block_body(piece, dialect));
  indent(inner);
  Lines body = {fmt::format("step = tl.num_programs(0) * {}", block),
                fmt::format("for start in range(tl.program_id(0) * {}, size, step):", block)};
  append(body, inner);
  KernelText text =
      launch_of(piece, dialect, define(piece, dialect, body, sizes_of(piece), {block}));
  text.grid =
      fmt::format("(min(1024, triton.cdiv({}, {})),)", text.arguments[0], 2 * dialect.block);
  return text;
}

}  // namespace tritonsmith::curriculum
