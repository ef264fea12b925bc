#include "curate/normal_form.h"

#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "inspect/syntax_tree.h"

namespace tritonsmith::curate {
namespace {

using inspect::kNoNode;
using inspect::Node;
using inspect::NodeId;
using inspect::SyntaxTree;

// "torch.nn.functional" as the tokens that the whole path would give.
std::string spaced(std::string_view path) {
  std::string text;
  for (const char c : path) text += c == '.' ? std::string(" . ") : std::string(1, c);
  return text;
}

class Normalizer {
 public:
  Normalizer(std::string_view source, Numbers numbers, Part part)
      : tree_(std::string(source)), numbers_(numbers), part_(part) {}

  std::string run() {
    find_imports();
    for (NodeId id = 0; id < tree_.size();) {
      close_blocks(id);
      const Node& node = tree_[id];
      if (node.type == "comment" || is_import(id) || is_docstring(id) ||
          (part_ == Part::model && is_about_inputs(id))) {
        id = node.after;
        continue;
      }
      if (node.type == "block") open_block(node.after);
      if (is_super(id)) {  // with or without the arguments that older Python needs
        add("super()");
        id = node.after;
        continue;
      }
      if (node.type == "string") {  // its parts are no tokens of their own
        add(tree_.text(id));
        id = node.after;
        continue;
      }
      if (node.after == id + 1) add_leaf(id);
      ++id;
    }
    close_blocks(tree_.size());
    return std::move(text_);
  }

 private:
  bool is_import(NodeId id) const {
    return tree_.is(id, "import_statement") || tree_.is(id, "import_from_statement");
  }

  // A string that stands alone as a statement does nothing.
  bool is_docstring(NodeId id) const {
    if (!tree_.is(id, "expression_statement")) return false;
    const auto children = tree_.children(id);
    return children.size() == 1 && tree_.is(children.front(), "string");
  }

  bool is_super(NodeId id) const {
    if (!tree_.is(id, "call")) return false;
    const NodeId function = tree_.child(id, "function");
    return tree_.is(function, "identifier") && tree_.text(function) == "super";
  }

  bool is_about_inputs(NodeId id) const {
    if (!tree_.is(tree_[id].parent, "module")) return false;
    if (tree_.is(id, "expression_statement")) return true;
    const NodeId name = tree_.child(id, "name");
    return tree_.is(id, "function_definition") && name != kNoNode &&
           (tree_.text(name) == "get_inputs" || tree_.text(name) == "get_init_inputs");
  }

  void find_imports() {
    for (NodeId id = 0; id < tree_.size(); ++id) {
      if (!is_import(id)) continue;
      const NodeId module = tree_.child(id, "module_name");
      const std::string prefix = module == kNoNode ? "" : std::string(tree_.text(module)) + ".";
      for (const NodeId each : tree_.children(id)) {
        if (each == module) continue;
        if (tree_.is(each, "aliased_import")) {
          const NodeId name = tree_.child(each, "name"), alias = tree_.child(each, "alias");
          if (name != kNoNode && alias != kNoNode)
            names_[std::string(tree_.text(alias))] = spaced(prefix + std::string(tree_.text(name)));
        } else if (tree_.is(each, "dotted_name")) {
          const std::string name(tree_.text(each));
          const std::string bound = prefix.empty() ? name.substr(0, name.find('.')) : name;
          names_[bound] = spaced(prefix.empty() ? bound : prefix + name);
        }
      }
    }
  }

  void add_leaf(NodeId id) {
    const Node& node = tree_[id];
    const std::string text(tree_.text(id));
    if (text.empty() || text == "," || text == ";") return;
    if (numbers_ == Numbers::ignore && (node.type == "integer" || node.type == "float"))
      return add("#");
    add(node.type == "identifier" && is_own_name(id) ? name_of(text) : text);
  }

  // An attribute is a name of its own where it is the module's: self.weight. The names of keyword
  // arguments belong to the function that is called.
  bool is_own_name(NodeId id) const {
    const Node& node = tree_[id];
    const std::string text(tree_.text(id));
    if (tree_.is(node.parent, "attribute") && node.field == "attribute") {
      const NodeId object = tree_.child(node.parent, "object");
      return tree_.text(object) == "self" && text != "training";
    }
    if (tree_.is(node.parent, "keyword_argument") && node.field == "name") return false;
    return !is_known(text);
  }

  // Names that mean something to whoever runs the file.
  static bool is_known(std::string_view name) {
    for (const std::string_view each : {"forward", "get_inputs", "get_init_inputs",
                                        "self",    "super",      "range",
                                        "len",     "int",        "float",
                                        "bool",    "tuple",      "list",
                                        "min",     "max",        "sum",
                                        "abs",     "print",      "isinstance",
                                        "zip",     "enumerate"})
      if (name == each) return true;
    return name.starts_with("__");
  }

  std::string name_of(const std::string& name) {
    const auto [at, is_new] = names_.try_emplace(name, "");
    if (is_new) at->second = fmt::format("n{}", ++count_);
    return at->second;
  }

  void add(std::string_view token) {
    if (!text_.empty()) text_ += ' ';
    text_ += token;
  }
  void open_block(NodeId after) {
    add("{");
    blocks_.push_back(after);
  }
  void close_blocks(NodeId id) {
    for (; !blocks_.empty() && blocks_.back() <= id; blocks_.pop_back()) add("}");
  }

  SyntaxTree tree_;
  Numbers numbers_;
  Part part_;
  std::unordered_map<std::string, std::string> names_;  // to what stands for them
  int count_ = 0;
  std::vector<NodeId> blocks_;  // open ones: the node after each
  std::string text_;
};

}  // namespace

std::string normal_form(std::string_view source, Numbers numbers, Part part) {
  return Normalizer(source, numbers, part).run();
}

}  // namespace tritonsmith::curate
