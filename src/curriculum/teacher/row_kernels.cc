#include <fmt/format.h>

#include "curriculum/teacher/kernel_text.h"
#include "curriculum/teacher/triton_forms.h"

namespace tritonsmith::curriculum {
namespace {

// The index expressions of a row's elements, in the terms of one kernel.
struct RowIndices {
  std::string row = "r", column = "i", full, mask, row_mask, column_mask;
  std::string axis = "0";  // argument of gathers: "0", or "1, keep_dims=True" for tiles
};

Lines loads(const Piece& piece, const Dialect& dialect, const RowIndices& indices) {
  Lines lines;
  for (const Input& input : piece.loads) {
    if (input.shape == InputShape::row)
      lines.push_back(dialect.load(input.name, indices.column, indices.column_mask));
    else if (input.shape == InputShape::column)
      lines.push_back(dialect.load(input.name, indices.row, indices.row_mask));
    else
      lines.push_back(dialect.load(input.name, indices.full, indices.mask));
  }
  return lines;
}

// The text of a row operator with {x}, {a}, {b}, {n} and {0} filled in.
class CoreWords {
 public:
  CoreWords(const Line& line, const Dialect& dialect) : line_(line), form_(row_form(line.op)) {
    for (std::size_t i = 0; i < form_.passes.size(); ++i)
      names_.push_back(dialect.terse ? std::string(1, static_cast<char>('a' + i))
                                     : form_.passes[i].name);
  }

  const RowForm& form() const { return form_; }
  const std::string& name(std::size_t pass) const { return names_[pass]; }

  std::string fill(std::string text) const {
    text = substitute(std::move(text), "{x}", line_.operands[0]);
    text = substitute(std::move(text), "{a}", names_[0]);
    if (names_.size() > 1) text = substitute(std::move(text), "{b}", names_[1]);
    text = substitute(std::move(text), "{n}", "n");
    return line_.constants.empty()
               ? text
               : substitute(std::move(text), "{0}", constant_text(line_.constants[0]));
  }

  std::string finished(std::size_t pass, const std::string& gathered) const {
    const std::string& finish = form_.passes[pass].finish;
    return finish.empty() ? gathered : fill(substitute(finish, "{s}", gathered));
  }

  std::string gathered(std::size_t pass, const std::string& values,
                       const RowIndices& indices) const {
    return fmt::format("tl.{}({}, {})", gather_name(form_.passes[pass].gather), values,
                       indices.axis);
  }

  // Replaces masked elements by the identity of the gather.
  std::string masked(std::size_t pass, const RowIndices& indices) const {
    return fmt::format("tl.where({}, {}, {})", indices.mask, fill(form_.passes[pass].element),
                       neutral(form_.passes[pass].gather));
  }

  Lines in_registers(const RowIndices& indices) const {
    Lines lines;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      // If a reduction's result is its last number, the number needs no name.
      const bool last = i + 1 == names_.size() && form_.result == (i == 0 ? "{a}" : "{b}");
      lines.push_back(fmt::format("{} = {}", last ? line_.target : names_[i],
                                  finished(i, gathered(i, masked(i, indices), indices))));
      if (last) return lines;
    }
    lines.push_back(fmt::format("{} = {}", line_.target, fill(form_.result)));
    return lines;
  }

 private:
  const Line& line_;
  const RowForm& form_;
  std::vector<std::string> names_;
};

Lines whole_row(const Piece& piece, const Dialect& dialect, const RowIndices& indices) {
  Lines body = loads(piece, dialect, indices);
  const std::size_t core = piece.core.value_or(piece.lines.size());
  append(body, texts(piece, 0, core, dialect));
  if (piece.core) {
    append(body, CoreWords(piece.lines[core], dialect).in_registers(indices));
    append(body, texts(piece, core + 1, piece.lines.size(), dialect));
  }
  body.push_back(piece.reduces() ? dialect.store(indices.row, piece.result, indices.row_mask)
                                 : dialect.store(indices.full, piece.result, indices.mask));
  return body;
}

RowIndices row_indices(const Dialect& dialect) {
  const std::string row = dialect.terse ? "r" : "row", column = dialect.terse ? "i" : "cols";
  return {.row = row,
          .column = column,
          .full = fmt::format("{} * n + {}", row, column),
          .mask = dialect.mask(),
          .row_mask = "",
          .column_mask = dialect.mask(),
          .axis = dialect.terse ? "0" : "axis=0"};
}

}  // namespace

KernelText row_kernel(const Piece& piece, const Dialect& dialect) {
  const RowIndices indices = row_indices(dialect);
  Lines body = {fmt::format("{} = tl.program_id(0)", indices.row),
                fmt::format("{} = tl.arange(0, {})", indices.column, dialect.block_name),
                fmt::format("{} = {} < n", indices.mask, indices.column)};
  append(body, whole_row(piece, dialect, indices));
  return {.definition = define(piece, dialect, body, {"n"}, {dialect.block_name}),
          .grid = "(rows,)",
          .arguments = {"n", "triton.next_power_of_2(n)"}};
}

KernelText tile_kernel(const Piece& piece, const Dialect& dialect) {
  RowIndices indices{.row = "row",
                     .column = "col",
                     .full = "row * n + col",
                     .mask = "mask",
                     .row_mask = "row < rows",
                     .column_mask = "col < n",
                     .axis = "axis=1, keep_dims=True"};
  const std::string column = piece.core
                                 ? "tl.arange(0, BLOCK_N)[None, :]"
                                 : "tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]";
  Lines body = {"row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]",
                "col = " + column, "mask = (row < rows) & (col < n)"};
  append(body, whole_row(piece, dialect, indices));
  const int tall = piece.core ? 4 : 8;
  KernelText text{.definition = define(piece, dialect, body, {"rows", "n"}, {"BLOCK_M", "BLOCK_N"}),
                  .grid = fmt::format("(triton.cdiv(rows, {}),)", tall),
                  .arguments = {"rows", "n", fmt::format("{}", tall), "triton.next_power_of_2(n)"}};
  if (!piece.core) {
    text.grid = fmt::format("(triton.cdiv(rows, {}), triton.cdiv(n, 128))", tall);
    text.arguments.back() = "128";
  }
  return text;
}

KernelText row_loop_kernel(const Piece& piece, const Dialect& dialect) {
  const RowIndices indices = row_indices(dialect);
  const CoreWords words(piece.lines[*piece.core], dialect);
  const std::string& block = dialect.block_name;
  const Lines head = {fmt::format("{} = start + tl.arange(0, {})", indices.column, block),
                      fmt::format("{} = {} < n", indices.mask, indices.column)};
  // Every pass loads only the inputs of the operators before the row operator.
  Piece before = piece;
  std::erase_if(before.loads, [&](const Input& input) {
    for (std::size_t i = 0; i <= *piece.core; ++i)
      for (const std::string& operand : piece.lines[i].operands)
        if (operand == input.name) return false;
    return true;
  });
  Lines body = {fmt::format("{} = tl.program_id(0)", indices.row)};
  for (std::size_t pass = 0; pass < words.form().passes.size(); ++pass) {
    const Gather gather = words.form().passes[pass].gather;
    Lines inner = head;
    append(inner, loads(before, dialect, indices));
    append(inner, texts(piece, 0, *piece.core, dialect));
    inner.push_back(gather == Gather::sum
                        ? fmt::format("acc += {}", words.masked(pass, indices))
                        : fmt::format("acc = tl.{}imum(acc, {})", gather_name(gather),
                                      words.masked(pass, indices)));
    indent(inner);
    body.push_back(gather == Gather::sum ? fmt::format("acc = tl.zeros(({},), tl.float32)", block)
                                         : fmt::format("acc = tl.full(({},), {}, tl.float32)",
                                                       block, neutral(gather)));
    body.push_back(fmt::format("for start in range(0, n, {}):", block));
    append(body, inner);
    body.push_back(fmt::format("{} = {}", words.name(pass),
                               words.finished(pass, words.gathered(pass, "acc", indices))));
  }
  const std::string result =
      fmt::format("{} = {}", piece.lines[*piece.core].target, words.fill(words.form().result));
  const Lines after = texts(piece, *piece.core + 1, piece.lines.size(), dialect);
  if (piece.reduces()) {
    body.push_back(result);
    append(body, after);
    body.push_back(dialect.store(indices.row, piece.result, ""));
  } else {
    Lines inner = head;
    append(inner, loads(piece, dialect, indices));
    append(inner, texts(piece, 0, *piece.core, dialect));
    inner.push_back(result);
    append(inner, after);
    inner.push_back(dialect.store(indices.full, piece.result, indices.mask));
    indent(inner);
    body.push_back(fmt::format("for start in range(0, n, {}):", block));
    append(body, inner);
  }
  return {.definition = define(piece, dialect, body, {"n"}, {block}),
          .grid = "(rows,)",
          .arguments = {"n", fmt::format("{}", dialect.block)}};
}

}  // namespace tritonsmith::curriculum
