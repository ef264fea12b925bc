#include "curriculum/teacher/torch_share.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "curriculum/teacher/kernel_text.h"
#include "curriculum/teacher/triton_forms.h"
#include "curriculum/torch_source.h"

namespace tritonsmith::curriculum {
namespace {

constexpr int kBlock = 1024;

bool is_elementwise(const Line& line) { return describe(line.op).value != nullptr; }

class TorchShareWriter {
 public:
  TorchShareWriter(const Program& program, Rng& rng)
      : program_(program), whole_(whole_piece(program)), rng_(rng) {}

  std::optional<Solution> lazy() {
    const std::size_t count = whole_.lines.size();
    if (count < 2) return std::nullopt;
    const bool can_begin = fits_kernel(0), can_end = fits_kernel(count - 1);
    if (!can_begin && !can_end) return std::nullopt;
    const bool begins = can_begin && (!can_end || rng_.below(2) == 0);
    return begins ? kernel_first() : kernel_last();
  }

  std::optional<Solution> decoy() {
    switch (rng_.below(3)) {
      case 0:
        return passed_on({}, "copy");
      case 1:
        return passed_on({zero_added()}, "add_constant");
      default:
        return unused();
    }
  }

 private:
  const Input* input(const std::string& name) const {
    const auto at = std::ranges::find(program_.inputs, name, &Input::name);
    return at == program_.inputs.end() ? nullptr : &*at;
  }

  // Tells whether a flat kernel can compute this line alone. After a reduction the line must need
  // no other tensor, because values there have another layout than the inputs.
  bool fits_kernel(std::size_t at) const {
    const Line& line = whole_.lines[at];
    if (!is_elementwise(line)) return false;
    const bool reduced = whole_.reduces() && at > *whole_.core;
    if (reduced && line.operands.size() > 1) return false;
    const Input* first = input(line.operands[0]);
    return first == nullptr || first->shape == InputShape::full;
  }

  Piece piece_of(const Line& line) const {
    Piece piece{.name = "kernel", .lines = {line}, .loads = {}, .result = line.target, .core = {}};
    for (const std::string& operand : line.operands) {
      const Input* given = input(operand);
      const Input load = given != nullptr ? *given : Input{.name = operand};
      if (std::ranges::find(piece.loads, load.name, &Input::name) == piece.loads.end())
        piece.loads.push_back(load);
    }
    return piece;
  }

  Line zero_added() const {
    return {.target = whole_.result,
            .op = Op::add_constant,
            .constants = {0},
            .operands = {whole_.result}};
  }

  std::string in_torch(const Line& line) const {
    return substitute(fill_in(torch_forms(line.op)[0], line), "{k}",
                      program_.keepdim ? ", keepdim=True" : "");
  }

  void add_torch(std::size_t from, std::size_t end, Lines& body) const {
    for (std::size_t i = from; i < end; ++i)
      body.push_back(fmt::format("{} = {}", whole_.lines[i].target, in_torch(whole_.lines[i])));
  }

  // The kernel's output is the variable o, which has the size of the tensor `like`.
  static void add_launch(const Piece& piece, const std::string& like, const KernelText& kernel,
                         Lines& body) {
    std::vector<std::string> arguments;
    for (const Input& load : piece.loads) arguments.push_back(load.name);
    arguments.emplace_back("o");
    arguments.insert(arguments.end(), kernel.arguments.begin(), kernel.arguments.end());
    if (std::ranges::find(arguments, "n") != arguments.end())
      body.push_back(fmt::format("n = {}.shape[-1]", like));
    body.push_back(fmt::format("size = {}.numel()", like));
    body.push_back(fmt::format("o = torch.empty_like({})", like));
    body.push_back(fmt::format("kernel[{}]({})", kernel.grid, fmt::join(arguments, ", ")));
  }

  std::string module(const KernelText& kernel, const Lines& body) const {
    std::vector<std::string> parameters = {"self"};
    for (const Input& each : program_.inputs) parameters.push_back(each.name);
    std::string forward;
    for (const std::string& line : body) forward += "        " + line + "\n";
    const bool functional = forward.find("F.") != std::string::npos;
    return fmt::format(
        "import torch, triton\nimport triton.language as tl\n{}{}class "
        "ModelNew(torch.nn.Module):\n    def forward({}):\n{}",
        functional ? "import torch.nn.functional as F\n" : "", kernel.definition,
        fmt::join(parameters, ", "), forward);
  }

  Solution solution(const KernelText& kernel, const Lines& body, std::string fusion) const {
    return {.thinking = operator_names(whole_.lines),
            .code = module(kernel, body),
            .fusion = std::move(fusion)};
  }

  std::string names(std::size_t from, std::size_t end) const {
    return operator_names(std::span(whole_.lines).subspan(from, end - from));
  }

  Solution kernel_first() const {
    const Line& line = whole_.lines.front();
    const Piece piece = piece_of(line);
    const KernelText kernel = flat_kernel(piece, dialect_);
    Lines body;
    add_launch(piece, line.operands[0], kernel, body);
    body.push_back(line.target + " = o");
    add_torch(1, whole_.lines.size(), body);
    body.push_back("return " + whole_.result);
    return solution(
        kernel, body,
        fmt::format("kernel: {}; torch: {}", names(0, 1), names(1, whole_.lines.size())));
  }

  Solution kernel_last() const {
    const std::size_t last = whole_.lines.size() - 1;
    const Line& line = whole_.lines[last];
    const Piece piece = piece_of(line);
    const KernelText kernel = flat_kernel(piece, dialect_);
    Lines body;
    add_torch(0, last, body);
    add_launch(piece, line.operands[0], kernel, body);
    body.emplace_back("return o");
    return solution(kernel, body,
                    fmt::format("torch: {}; kernel: {}", names(0, last), names(last, last + 1)));
  }

  // The kernel copies torch's result without a change.
  Solution passed_on(const std::vector<Line>& lines, std::string_view name) const {
    const Piece piece{.name = "kernel",
                      .lines = lines,
                      .loads = {{.name = whole_.result}},
                      .result = whole_.result,
                      .core = {}};
    const KernelText kernel = flat_kernel(piece, dialect_);
    Lines body;
    add_torch(0, whole_.lines.size(), body);
    add_launch(piece, whole_.result, kernel, body);
    body.emplace_back("return o");
    return solution(kernel, body,
                    fmt::format("torch: {}; kernel: {}", names(0, whole_.lines.size()), name));
  }

  // No code reads this kernel's output.
  std::optional<Solution> unused() const {
    if (!fits_kernel(0)) return passed_on({}, "copy");
    const Line& line = whole_.lines.front();
    const Piece piece = piece_of(line);
    const KernelText kernel = flat_kernel(piece, dialect_);
    Lines body;
    add_launch(piece, line.operands[0], kernel, body);
    add_torch(0, whole_.lines.size(), body);
    body.push_back("return " + whole_.result);
    return solution(
        kernel, body,
        fmt::format("kernel: {}; torch: {}", names(0, 1), names(0, whole_.lines.size())));
  }

  const Program& program_;
  Piece whole_;
  Dialect dialect_ = Dialect::short_names(kBlock);
  Rng& rng_;
};

}  // namespace

std::optional<Solution> write_with_torch(const Program& program, TorchShare share, Rng& rng) {
  const bool has_weights = std::ranges::any_of(program.inputs, [](const Input& input) {
    return input.source == Source::parameter || input.shape == InputShape::matrix;
  });
  if (has_weights || program.family == Family::matmul) return std::nullopt;
  TorchShareWriter writer(program, rng);
  return share == TorchShare::lazy ? writer.lazy() : writer.decoy();
}

}  // namespace tritonsmith::curriculum
