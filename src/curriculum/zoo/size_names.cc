#include "curriculum/zoo/size_names.h"

namespace tritonsmith::curriculum::zoo {

int SizeNames::draw(const std::string& name, std::initializer_list<int> choices) {
  const auto pick = [&] { return *(choices.begin() + rng_.below(choices.size())); };
  int value = pick();
  // A number with a name of another meaning would stand under that name.
  for (int tries = 0; tries < 16 && by_size_.contains(value); ++tries) value = pick();
  if (by_size_.contains(value) || texts_.contains(name)) return value;
  by_size_[value] = name;
  add(name, std::to_string(value));
  return value;
}

std::string SizeNames::of(int value) const {
  const auto found = by_size_.find(value);
  return found == by_size_.end() ? std::to_string(value) : "$" + found->second + "$";
}

std::string SizeNames::of(const Shape& shape) const {
  std::string text;
  for (const int each : shape) text += (text.empty() ? "" : ", ") + of(each);
  return text;
}

std::string SizeNames::setting(const std::string& name, const std::string& text) {
  const auto found = texts_.find(name);
  if (found != texts_.end()) return found->second == text ? "$" + name + "$" : text;
  if (rng_.uniform() < 0.5) return text;
  add(name, text);
  return "$" + name + "$";
}

void SizeNames::add(const std::string& name, const std::string& text) {
  if (texts_.emplace(name, text).second) order_.push_back(name);
}

}  // namespace tritonsmith::curriculum::zoo
