#include "curriculum/listing.h"

#include <map>

#include "base/check.h"

namespace tritonsmith::curriculum {
namespace {

class Lister {
 public:
  Lister(const std::vector<std::string>& inputs, const std::string& core)
      : inputs_(inputs), core_(core) {}

  Listing run(const Expression& tree) {
    count_uses(tree);
    listing_.result = visit(tree);
    return std::move(listing_);
  }

 private:
  std::string name_of_leaf(const Expression& tree) const {
    return tree.op == Op::core_value ? core_ : inputs_[static_cast<std::size_t>(tree.input)];
  }

  void count_uses(const Expression& tree) {
    if (tree.children.empty()) ++uses_[name_of_leaf(tree)];
    for (const Expression& child : tree.children) count_uses(child);
  }

  std::string visit(const Expression& tree) {
    if (tree.children.empty()) return name_of_leaf(tree);
    Line line{.target = "", .op = tree.op, .constants = tree.constants, .operands = {}};
    for (const Expression& child : tree.children) line.operands.push_back(visit(child));
    for (const std::string& operand : line.operands) --uses_[operand];
    const std::string& first = line.operands[0];
    const bool is_free = uses_[first] == 0 && first.find('.') == std::string::npos;
    line.target = is_free ? first : fresh();
    ++uses_[line.target];
    listing_.lines.push_back(line);
    return line.target;
  }

  std::string fresh() {
    for (const char* name : {"t", "u", "s", "q"})
      if (!uses_.contains(name) || uses_[name] == 0) return name;
    CHECK(false, "an expression needs more than four temporaries");
  }

  const std::vector<std::string>& inputs_;
  const std::string& core_;
  std::map<std::string, int> uses_;
  Listing listing_;
};

}  // namespace

Listing list_operators(const Expression& tree, const std::vector<std::string>& inputs,
                       const std::string& core) {
  return Lister(inputs, core).run(tree);
}

std::string fill_in(std::string_view pattern, const Line& line) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '{' || i + 2 >= pattern.size() || pattern[i + 2] != '}') {
      text += pattern[i];
      continue;
    }
    const char what = pattern[i + 1];
    const bool known = what == 'x' || what == 'y' || (what >= '0' && what <= '9');
    if (!known) {
      text += pattern[i];
      continue;
    }
    if (what == 'x' || what == 'y')
      text += line.operands.at(what == 'x' ? 0 : 1);
    else
      text += constant_text(line.constants.at(static_cast<std::size_t>(what - '0')));
    i += 2;
  }
  return text;
}

}  // namespace tritonsmith::curriculum
