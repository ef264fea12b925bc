#include "curriculum/zoo/module_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>

namespace tritonsmith::curriculum::zoo {
namespace {

using Names = std::function<std::string(const std::string& mark)>;

std::string with_names(const std::string& text, const Names& names) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find('$', at);
    const std::size_t end = begin == std::string::npos ? begin : text.find('$', begin + 1);
    if (end == std::string::npos) return out + text.substr(at);
    out += text.substr(at, begin - at) + names(text.substr(begin + 1, end - begin - 1));
    at = end + 1;
  }
  return out;
}

std::string in_capitals(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::string in_words(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

class Writer {
 public:
  Writer(const Sketch& sketch, Rng& rng) : sketch_(sketch), style_(sketch.style()), rng_(rng) {
    for (const std::string& line : sketch.parts().forward) note_marks(line, in_forward_);
    for (const Layer& layer : sketch.parts().layers) {
      note_marks(layer.maker, in_constructor_);
      for (const std::string& part : layer.parts) note_marks(part, in_constructor_);
    }
    for (const InputLine& input : sketch.parts().inputs) note_marks(input.draw, in_inputs_);
    for (const std::string& mark : in_forward_)
      if (!has(in_constructor_, mark)) in_constructor_.push_back(mark);
    if (!has_constructor()) style_.block = false;
  }

  std::string write() {
    const std::string body = classes();
    std::string text = imports(body);
    if (style_.sizes == SizeStyle::constants) text += constants(used_marks(), true);
    return text + "\n\n" + body + "\n\n" + input_functions();
  }

 private:
  using Marks = std::vector<std::string>;

  static bool has(const Marks& marks, const std::string& mark) {
    return std::ranges::find(marks, mark) != marks.end();
  }
  static void note_marks(const std::string& text, Marks& marks) {
    with_names(text, [&](const std::string& mark) {
      if (!has(marks, mark)) marks.push_back(mark);
      return std::string();
    });
  }

  bool takes_arguments() const {
    return style_.sizes == SizeStyle::parameters || style_.sizes == SizeStyle::named;
  }
  bool has_constructor() const {
    return !sketch_.parts().layers.empty() || !in_constructor_.empty();
  }
  std::string number(const std::string& mark) const { return sketch_.parts().sizes.text_of(mark); }

  // Return the name of a mark in the constructor, in forward, and outside of the class.
  std::string inner(const std::string& mark) const {
    if (takes_arguments()) return mark;
    return style_.sizes == SizeStyle::constants ? in_capitals(mark) : number(mark);
  }
  std::string attribute(const std::string& mark) const {
    return takes_arguments() ? "self." + mark : inner(mark);
  }
  std::string outer(const std::string& mark) const {
    if (style_.sizes == SizeStyle::named) return mark;
    return style_.sizes == SizeStyle::constants ? in_capitals(mark) : number(mark);
  }

  std::string imports(const std::string& body) const {
    std::string text = "import torch\n";
    if (style_.from_torch_import)
      text += "from torch import nn\n";
    else
      text += "import torch.nn as nn\n";
    if (body.find("F.") != std::string::npos)
      text += style_.from_torch_import ? "from torch.nn import functional as F\n"
                                       : "import torch.nn.functional as F\n";
    return text;
  }

  Marks used_marks() const {
    Marks used;
    for (const std::string& mark : sketch_.parts().sizes.marks())
      if (has(in_constructor_, mark) || has(in_inputs_, mark)) used.push_back(mark);
    return used;
  }

  std::string constants(const Marks& marks, bool capitals) const {
    std::string text = marks.empty() ? "" : "\n";
    for (const std::string& mark : marks)
      text += fmt::format("{} = {}\n", capitals ? in_capitals(mark) : mark, number(mark));
    return text;
  }

  std::string classes() {
    if (!style_.block) return module_class("Model");
    static const std::vector<std::string> kNames = {"Block", "Layer", "Encoder",
                                                    "Head",  "Unit",  "Stage"};
    const std::string name = rng_.pick(kNames);
    const std::string text = module_class(name);
    const Marks marks = takes_arguments() ? in_constructor_ : Marks{};
    const std::string arguments = fmt::format("{}", fmt::join(marks, ", "));
    std::string lower = name;
    lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
    std::string model = "\n\nclass Model(nn.Module):\n";
    model += fmt::format("    def __init__(self{}{}):\n", marks.empty() ? "" : ", ", arguments);
    model += fmt::format("        super().__init__()\n        self.{} = {}({})\n\n", lower, name,
                         arguments);
    model += fmt::format("    def forward(self, {0}):\n        return self.{1}({0})\n",
                         fmt::join(argument_names(), ", "), lower);
    return text + model;
  }

  std::string module_class(const std::string& name) {
    std::string text = fmt::format("class {}(nn.Module):\n{}", name, docstring());
    if (has_constructor()) text += constructor(name);
    return text + forward();
  }

  std::vector<std::string> argument_names() const {
    std::vector<std::string> names;
    for (const InputLine& input : sketch_.parts().inputs) names.push_back(input.name);
    return names;
  }

  std::string summary() {
    std::vector<std::string> words;
    for (const std::string& step : sketch_.parts().path) words.push_back(in_words(step));
    const std::string listed = fmt::format("{}", fmt::join(words, ", "));
    switch (rng_.below(3)) {
      case 0:
        return fmt::format("Applies {}.", listed);
      case 1:
        return fmt::format("A module of {} operators: {}.", words.size(), listed);
      default: {
        std::string first = words[0];
        first[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(first[0])));
        return fmt::format("{}{}.", first,
                           words.size() > 1 ? ", then " + listed.substr(words[0].size() + 2) : "");
      }
    }
  }

  std::string docstring() {
    if (style_.docs == Docs::none) return {};
    std::string text = fmt::format("    \"\"\"{}", summary());
    if (style_.docs == Docs::summary) return text + "\"\"\"\n\n";
    text += "\n\n    Args:\n";
    for (const InputLine& input : sketch_.parts().inputs)
      text += fmt::format("        {}: a tensor of shape ({})\n", input.name,
                          fmt::join(input.shape, ", "));
    return text + "    \"\"\"\n\n";
  }

  std::string constructor(const std::string& name) {
    const Names named = [&](const std::string& mark) { return inner(mark); };
    std::string parameters;
    if (takes_arguments())
      for (const std::string& mark : in_constructor_)
        parameters += fmt::format(
            ", {}{}", mark,
            style_.type_hints
                ? (number(mark).find_first_of(".e") == std::string::npos ? ": int" : ": float")
                : "");
    std::string text = fmt::format("    def __init__(self{}):\n", parameters);
    text += style_.old_super ? fmt::format("        super({}, self).__init__()\n", name)
                             : "        super().__init__()\n";
    if (takes_arguments())
      for (const std::string& mark : in_forward_)
        text += fmt::format("        self.{0} = {0}\n", mark);
    for (const Layer& layer : sketch_.parts().layers) {
      if (layer.parts.empty()) {
        text += fmt::format("        self.{} = {}\n", layer.name, with_names(layer.maker, named));
        continue;
      }
      text += fmt::format("        self.{} = nn.Sequential(\n", layer.name);
      for (const std::string& part : layer.parts)
        text += fmt::format("            {},\n", with_names(part, named));
      text += "        )\n";
    }
    return text + "\n";
  }

  std::string forward() const {
    std::vector<std::string> names = argument_names();
    if (style_.type_hints)
      for (std::string& name : names) name += ": torch.Tensor";
    std::string text = fmt::format("    def forward(self, {}){}:\n", fmt::join(names, ", "),
                                   style_.type_hints ? " -> torch.Tensor" : "");
    for (const std::string& line : sketch_.parts().forward)
      text +=
          fmt::format("        {}\n",
                      with_names(line, [&](const std::string& mark) { return attribute(mark); }));
    return text;
  }

  std::string input_functions() const {
    const Names named = [&](const std::string& mark) { return outer(mark); };
    std::string text;
    if (style_.sizes == SizeStyle::named) {
      const std::string listed = constants(used_marks(), false);
      if (!listed.empty()) text += listed.substr(1) + "\n\n";
    }
    std::vector<std::string> draws, init;
    for (const InputLine& input : sketch_.parts().inputs)
      draws.push_back(with_names(input.draw, named));
    if (takes_arguments())
      for (const std::string& mark : in_constructor_) init.push_back(outer(mark));
    return text +
           fmt::format(
               "def get_inputs():\n    return [{}]\n\n\ndef get_init_inputs():\n    return [{}]\n",
               fmt::join(draws, ", "), fmt::join(init, ", "));
  }

  const Sketch& sketch_;
  Style style_;
  Rng& rng_;
  Marks in_forward_, in_constructor_, in_inputs_;
};

}  // namespace

std::string module_source(const Sketch& sketch, Rng& rng) { return Writer(sketch, rng).write(); }

std::string with_numbers(std::string text, const Sketch& sketch) {
  return with_names(text,
                    [&](const std::string& mark) { return sketch.parts().sizes.text_of(mark); });
}

}  // namespace tritonsmith::curriculum::zoo
