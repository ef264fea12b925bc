#include "curriculum/zoo/style.h"

#include <array>
#include <vector>

namespace tritonsmith::curriculum::zoo {

Style draw_style(Rng& rng) {
  static const std::array kSizes = {SizeStyle::literal, SizeStyle::parameters, SizeStyle::named,
                                    SizeStyle::named, SizeStyle::constants};
  static const std::array kDocs = {Docs::none, Docs::none, Docs::summary, Docs::detailed};
  static const std::vector<std::string> kArguments = {
      "x", "x", "x", "x", "input", "inputs", "features", "hidden_states"};
  static const std::vector<std::string> kVariables = {"x", "x", "out", "y", "h", "output"};
  Style style;
  style.sizes = rng.pick(kSizes);
  style.docs = rng.pick(kDocs);
  style.argument = rng.pick(kArguments);
  style.variable = rng.uniform() < 0.5 ? style.argument : rng.pick(kVariables);
  style.nesting = rng.uniform() < 0.5 ? 0 : 0.7;
  style.layers = rng.uniform();
  style.keywords = rng.uniform();
  style.shape_comments = rng.uniform() < 0.1 ? 1 : 0;
  style.sequential = rng.uniform() < 0.25;
  style.old_super = rng.uniform() < 0.4;
  style.from_torch_import = rng.uniform() < 0.2;
  style.type_hints = rng.uniform() < 0.25;
  style.block = rng.uniform() < 0.12;
  return style;
}

}  // namespace tritonsmith::curriculum::zoo
