#include "curriculum/torch_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "curriculum/listing.h"

namespace tritonsmith::curriculum {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

// Tells whether an operand needs parentheses within another expression: it has an operator outside
// all parentheses.
bool is_loose(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '[';
    depth -= text[i] == ')' || text[i] == ']';
    if (depth == 0 && (text[i] == ' ' || (i == 0 && text[i] == '-'))) return true;
  }
  return false;
}

class Writer {
 public:
  Writer(const Program& program, const Sizes& sizes, Idioms idioms, Rng& rng, Draws draws)
      : program_(program),
        sizes_(sizes),
        rng_(rng),
        draws_(draws),
        varied_(idioms == Idioms::varied) {
    for (const Input& input : program.inputs)
      names_.push_back(input.source == Source::parameter ? "self." + input.name : input.name);
    has_linear_bias_ = has_linear_bias(program);
    named_sizes_ = varied_ && rng_.uniform() < 0.6;
  }

  std::string write() {
    const std::string body = forward_body();
    const std::string init = constructor();
    std::string text = "import torch\n";
    if (!varied_ || !init.empty() || body.find("F.") != std::string::npos)
      text += "import torch.nn as nn\n";
    else
      text += "from torch import nn\n";
    if (body.find("F.") != std::string::npos) text += "import torch.nn.functional as F\n";
    text += "\n\nclass Model(nn.Module):\n" + init;
    text += fmt::format("    def forward(self, {}):\n{}\n\n", fmt::join(arguments(), ", "), body);
    return text + input_functions();
  }

 private:
  std::vector<std::string> arguments() const {
    std::vector<std::string> found;
    for (const Input& input : program_.inputs)
      if (input.source == Source::argument) found.push_back(input.name);
    return found;
  }

  std::string form(const Line& line) {
    if (line.op == Op::matmul && program_.linear)
      return fmt::format("self.linear({})", line.operands[0]);
    const auto& forms = torch_forms(line.op);
    const std::string& chosen = varied_ ? rng_.pick(forms) : forms[0];
    return replaced(fill_in(chosen, line), "{k}", program_.keepdim ? ", keepdim=True" : "");
  }

  bool is_linear_bias(const Line& line) const {
    return has_linear_bias_ && line.op == Op::add && line.operands[1] == "self.bias";
  }

  std::string forward_body() {
    Listing listing = list_operators(program_.root, names_, "");
    std::erase_if(listing.lines, [&](const Line& line) { return is_linear_bias(line); });
    if (varied_ && listing.lines.size() <= 4 && rng_.uniform() < 0.3)
      if (const std::string nested = nest(program_.root); !nested.empty())
        return fmt::format("        return {}\n", nested);
    std::string body;
    for (std::size_t i = 0; i < listing.lines.size(); ++i) {
      const bool last = i + 1 == listing.lines.size();
      const std::string written = form(listing.lines[i]);
      body += last ? fmt::format("        return {}\n", written)
                   : fmt::format("        {} = {}\n", listing.lines[i].target, written);
    }
    return body;
  }

  // Writes the whole tree as one expression. Returns an empty string if an operand would appear
  // twice or the line would grow too long.
  std::string nest(const Expression& tree) {
    if (tree.op == Op::input) return names_[static_cast<std::size_t>(tree.input)];
    Line line{.target = "", .op = tree.op, .constants = tree.constants, .operands = {}};
    for (const Expression& child : tree.children) {
      std::string operand = nest(child);
      if (operand.empty()) return {};
      line.operands.push_back(is_loose(operand) ? "(" + operand + ")" : operand);
    }
    if (is_linear_bias(line)) return nest(tree.children[0]);
    Line marked = line;
    for (std::size_t i = 0; i < marked.operands.size(); ++i)
      marked.operands[i] = i == 0 ? "\x01" : "\x02";
    std::string text = form(marked);
    if (tree.children[0].op != Op::input && occurrences(text, "\x01") > 1) return {};
    text = replaced(text, "\x01", line.operands[0]);
    if (line.operands.size() > 1) text = replaced(text, "\x02", line.operands[1]);
    return text.size() > 80 ? std::string() : text;
  }

  std::string constructor() {
    std::string lines;
    bool n_used = false;
    for (const Input& input : program_.inputs) {
      if (input.source != Source::parameter || (input.name == "bias" && has_linear_bias_)) continue;
      if (input.shape == InputShape::matrix)
        lines += fmt::format("        self.linear = nn.Linear(in_features, features{})\n",
                             has_linear_bias_ ? "" : ", bias=False");
      else
        lines += fmt::format("        self.{} = nn.Parameter(torch.rand(features))\n", input.name);
      n_used = true;
    }
    if (!n_used && !varied_) return {};
    if (!n_used && rng_.uniform() < 0.5) return {};
    const std::string parameters = !n_used           ? ""
                                   : program_.linear ? ", in_features, features"
                                                     : ", features";
    const char* super = varied_ && rng_.uniform() < 0.5 ? "super(Model, self)" : "super()";
    return fmt::format("    def __init__(self{}):\n        {}.__init__()\n{}\n", parameters, super,
                       lines);
  }

  // Returns the sizes as literals ("16, 512") or as names.
  std::string shape_text(const Input& input) const {
    const std::vector<int> dims = dimensions(input, sizes_);
    std::vector<std::string> parts;
    const bool ends_in_n = input.shape == InputShape::full || input.shape == InputShape::row ||
                           input.shape == InputShape::matrix;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const bool last = i + 1 == dims.size();
      const bool leads = input.shape != InputShape::matrix && !last;
      if (!named_sizes_ || (last && input.shape == InputShape::column))
        parts.push_back(fmt::format("{}", dims[i]));
      else if (leads)
        parts.push_back(sizes_.lead.size() > 1 && i == 0 ? "batch_size" : "rows");
      else
        parts.push_back(last && ends_in_n ? "features" : "in_features");
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  std::string drawn(const Input& input) const {
    const std::string shape = shape_text(input);
    const bool normal = input.draw == Draw::normal;
    switch (draws_) {
      case Draws::usual:
        return fmt::format("torch.{}({})", normal ? "randn" : "rand", shape);
      case Draws::flat:
        return normal ? fmt::format("(torch.rand({}) * 4 - 2)", shape)
                      : fmt::format("torch.rand({}).sqrt()", shape);
      case Draws::shifted:
        return normal ? fmt::format("(torch.randn({}) * 0.5 + 1)", shape)
                      : fmt::format("(1 - torch.rand({}) ** 3)", shape);
    }
    return {};
  }

  std::string input_functions() const {
    std::string text;
    if (named_sizes_) {
      if (sizes_.lead.size() > 1) text += fmt::format("batch_size = {}\n", sizes_.lead[0]);
      if (!sizes_.lead.empty()) text += fmt::format("rows = {}\n", sizes_.lead.back());
      if (sizes_.k > 0) text += fmt::format("in_features = {}\n", sizes_.k);
      text += fmt::format("features = {}\n\n\n", sizes_.n);
    }
    std::vector<std::string> draws, init;
    bool has_parameters = false;
    for (const Input& input : program_.inputs) {
      has_parameters |= input.source == Source::parameter;
      if (input.source == Source::parameter) continue;
      // The values of a product grow with its inner size. This factor keeps them near one.
      const char* scale = input.shape == InputShape::matrix ? " / 20" : "";
      draws.push_back(drawn(input) + scale);
    }
    if (program_.linear) init.push_back(named_sizes_ ? "in_features" : fmt::format("{}", sizes_.k));
    if (has_parameters) init.push_back(named_sizes_ ? "features" : fmt::format("{}", sizes_.n));
    return text +
           fmt::format(
               "def get_inputs():\n    return [{}]\n\n\ndef get_init_inputs():\n    return [{}]\n",
               fmt::join(draws, ", "), fmt::join(init, ", "));
  }

  const Program& program_;
  const Sizes& sizes_;
  Rng& rng_;
  Draws draws_;
  bool varied_;
  bool has_linear_bias_ = false;
  bool named_sizes_ = false;
  std::vector<std::string> names_;
};

// Describes the main chain of the tree, with side branches in words: "relu, multiply by selu of y,
// sum over the last dimension".
std::string spoken(const Expression& tree, const std::vector<std::string>& names) {
  if (tree.op == Op::input) return names[static_cast<std::size_t>(tree.input)];
  Line line{.target = "", .op = tree.op, .constants = tree.constants, .operands = {""}};
  if (tree.children.size() > 1) {
    const Expression& side = tree.children[1];
    const bool plain = side.op == Op::input;
    line.operands.push_back(
        plain ? spoken(side, names)
              : fmt::format("({} of {})", spoken(side, names), spoken(side.children[0], names)));
  }
  const std::string phrase = fill_in(describe(tree.op).phrase, line);
  return tree.children[0].op == Op::input ? phrase
                                          : spoken(tree.children[0], names) + ", " + phrase;
}

}  // namespace

std::string torch_source(const Program& program, const Sizes& sizes, Idioms idioms, Rng& rng,
                         Draws draws) {
  return Writer(program, sizes, idioms, rng, draws).write();
}

std::string instruction(const Program& program, const Sizes& sizes) {
  std::vector<std::string> shapes, names;
  for (const Input& input : program.inputs) {
    std::vector<int> dims = dimensions(input, sizes);
    if (program.linear && input.shape == InputShape::matrix) std::swap(dims[0], dims[1]);
    names.push_back(input.name);
    shapes.push_back(fmt::format("{}{} [{}]", input.source == Source::parameter ? "parameter " : "",
                                 input.name, fmt::join(dims, ", ")));
  }
  return fmt::format("For {}: {}{}.", fmt::join(shapes, ", "), spoken(program.root, names),
                     program.keepdim ? " (kept as a dimension of size one)" : "");
}

}  // namespace tritonsmith::curriculum
