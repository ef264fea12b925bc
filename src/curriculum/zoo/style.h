// Style: how the author of a module writes. Each module has one, drawn at random.
#pragma once

#include <string>

#include "base/rng.h"

namespace tritonsmith::curriculum::zoo {

// Where the source has the sizes. literal: numbers in the constructor. parameters: arguments
// of the constructor, whose values get_init_inputs gives. named: the same, with names at module
// level for the values. constants: names in capitals at module level, which the constructor uses.
enum class SizeStyle { literal, parameters, named, constants };
enum class Docs { none, summary, detailed };

struct Style {
  SizeStyle sizes = SizeStyle::literal;
  Docs docs = Docs::none;
  std::string argument;       // of forward: "x", "inputs"
  std::string variable;       // of the running result: "x", "out"
  double nesting = 0.3;       // how often an expression becomes an operand of the next
  double layers = 0.5;        // how often an activation is a layer
  double keywords = 0.5;      // how often an argument is named
  double shape_comments = 0;  // how often a line says its shape
  bool sequential = false;    // layers that follow each other are one nn.Sequential
  bool old_super = false;     // super(Model, self)
  bool from_torch_import = false;
  bool type_hints = false;
  bool block = false;  // the layers are a class of their own, which Model holds
};

Style draw_style(Rng& rng);

}  // namespace tritonsmith::curriculum::zoo
