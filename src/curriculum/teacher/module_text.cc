#include "curriculum/teacher/module_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tritonsmith::curriculum {
namespace {

// Tells whether `name` occurs in the text as a word.
bool mentions(const std::string& text, const std::string& name) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

class ModuleWriter {
 public:
  ModuleWriter(const Program& program, const std::vector<Launch>& launches, bool terse)
      : program_(program), launches_(launches), terse_(terse), out_(terse ? "o" : "out") {}

  std::string write() const {
    std::string text =
        terse_
            ? "import torch, triton\nimport triton.language as tl\n"
            : "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n";
    for (const Launch& launch : launches_)
      text += (terse_ ? "" : "\n\n") + without_blank_end(launch.kernel.definition);
    text +=
        fmt::format("{}class ModelNew({}.Module):\n{}", terse_ ? "" : "\n\n", nn(), constructor());
    std::vector<std::string> arguments = {"self"};
    for (const Input& input : program_.inputs)
      if (input.source == Source::argument) arguments.push_back(input.name);
    return text + fmt::format("    def forward({}):\n", fmt::join(arguments, ", ")) + forward();
  }

 private:
  std::string nn() const { return terse_ ? "torch.nn" : "nn"; }

  // Two empty lines follow a helper function. Terse code has none.
  std::string without_blank_end(const std::string& definition) const { return definition; }

  std::string constructor() const {
    std::string weights;
    for (const Input& input : program_.inputs) {
      if (input.source != Source::parameter || (input.name == "bias" && has_linear_bias(program_)))
        continue;
      if (input.shape == InputShape::matrix)
        weights += fmt::format("        self.linear = {}.Linear(in_features, features{})\n", nn(),
                               has_linear_bias(program_) ? "" : ", bias=False");
      else
        weights +=
            fmt::format("        self.{} = {}.Parameter(torch.rand(features))\n", input.name, nn());
    }
    if (weights.empty()) return {};
    return fmt::format("    def __init__(self, {}features):\n        super().__init__()\n{}{}",
                       program_.linear ? "in_features, " : "", weights, terse_ ? "" : "\n");
  }

  std::string tensor(const Piece& piece, const Input& input) const {
    if (&piece != &launches_[0].piece && input.name == piece.loads[0].name) return "tmp";
    if (input.source == Source::argument) return input.name;
    const bool in_linear =
        input.shape == InputShape::matrix || (input.name == "bias" && has_linear_bias(program_));
    return (in_linear ? "self.linear." : "self.") + input.name;
  }

  std::string output_allocation() const {
    if (program_.family == Family::matmul) return "torch.empty(rows, n, device=x.device)";
    if (program_.family != Family::reduction) return "torch.empty_like(x)";
    return fmt::format("torch.empty(x.shape[:-1]{}, device=x.device)",
                       program_.keepdim ? " + (1,)" : "");
  }

  std::string temporary_allocation() const {
    if (program_.family == Family::matmul) return "torch.empty(rows, n, device=x.device)";
    return launches_[0].piece.reduces() ? "torch.empty(rows, device=x.device)"
                                        : "torch.empty_like(x)";
  }

  std::string launch(const Launch& launch, const std::string& target) const {
    std::vector<std::string> arguments;
    for (const Input& input : launch.piece.loads) arguments.push_back(tensor(launch.piece, input));
    arguments.push_back(target);
    arguments.insert(arguments.end(), launch.kernel.arguments.begin(),
                     launch.kernel.arguments.end());
    if (launch.kernel.grid.starts_with("lambda"))
      return fmt::format("        grid = {}\n        {}[grid]({})\n", launch.kernel.grid,
                         launch.piece.name, fmt::join(arguments, ", "));
    return fmt::format("        {}[{}]({})\n", launch.piece.name, launch.kernel.grid,
                       fmt::join(arguments, ", "));
  }

  std::string forward() const {
    std::string body;
    if (launches_.size() > 1) body += fmt::format("        tmp = {}\n", temporary_allocation());
    body += fmt::format("        {} = {}\n", out_, output_allocation());
    for (std::size_t i = 0; i < launches_.size(); ++i)
      body += launch(launches_[i], i + 1 < launches_.size() ? "tmp" : out_);
    return sizes(body) + body + fmt::format("        return {}\n", out_);
  }

  // Defines the sizes that the body mentions.
  std::string sizes(const std::string& body) const {
    if (program_.family == Family::matmul) {
      const std::string weight = tensor(launches_[0].piece, program_.inputs[1]);
      return fmt::format("        rows, k = x.shape\n        n = {}.shape[{}]\n{}", weight,
                         program_.linear ? 0 : 1,
                         mentions(body, "size") ? "        size = rows * n\n" : "");
    }
    std::string text;
    const bool rows = mentions(body, "rows"), size = mentions(body, "size");
    if (rows || mentions(body, "n")) text += "        n = x.shape[-1]\n";
    if (rows) text += "        rows = x.numel() // n\n";
    if (size) text += "        size = x.numel()\n";
    return text;
  }

  const Program& program_;
  const std::vector<Launch>& launches_;
  bool terse_;
  std::string out_;
};

}  // namespace

std::string module_text(const Program& program, const std::vector<Launch>& launches, bool terse) {
  return ModuleWriter(program, launches, terse).write();
}

}  // namespace tritonsmith::curriculum
