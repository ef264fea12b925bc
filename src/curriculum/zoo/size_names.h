// SizeNames: the sizes and settings of a module that have a name. A size with a name is written as a
// mark, "$in_channels$". Whether it becomes a number or a name is the style's matter.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "curriculum/zoo/value.h"

namespace tritonsmith::curriculum::zoo {

class SizeNames {
 public:
  explicit SizeNames(Rng& rng) : rng_(rng) {}

  // Draws a size and gives it the name, if neither is taken.
  int draw(const std::string& name, std::initializer_list<int> choices);
  // The mark of a size that has a name, else the number; of a shape: "$batch_size$, 16".
  std::string of(int value) const;
  std::string of(const Shape& shape) const;
  // A setting of a layer: a mark, or its text as it is.
  std::string setting(const std::string& name, const std::string& text);

  // The marks without their signs, in the order in which they were made, and what each stands for.
  const std::vector<std::string>& marks() const { return order_; }
  const std::string& text_of(const std::string& mark) const { return texts_.at(mark); }

 private:
  void add(const std::string& name, const std::string& text);

  Rng& rng_;
  std::map<std::string, std::string> texts_;
  std::vector<std::string> order_;
  std::map<int, std::string> by_size_;
};

}  // namespace tritonsmith::curriculum::zoo
