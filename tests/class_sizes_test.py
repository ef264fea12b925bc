#!/usr/bin/env python3
"""Checks that class_sizes.py counts methods and lines as a reader does."""
import pathlib
import sys
import tempfile

import class_sizes

HEADER = """
// class Commented { void no(); };
enum class Kind { one, two };
class Cart {
 public:
  explicit Cart(std::function<int(double)> price) : price_(std::move(price)), rows_{1}, left_(2) {}
  Cart(const Cart&) = delete;
  ~Cart() = default;
  void add(int item);
  int total() const {
    return count(items_);  // a call is no method
  }
  bool operator==(const Cart&) const;

 private:
  struct Item {
    int id = number();
  };
  std::function<int(double)> price_;
  std::vector<int> rows_;
  const char* text_ = "void hidden() { }";
};
"""
SOURCE = """#include "cart.h"
void Cart::add(int item) {
  rows_.push_back(item);
}

bool Cart::operator==(const Cart&) const { return Cart::same(rows_); }
"""

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    (root / "cart.h").write_text(HEADER)
    (root / "cart.cc").write_text(SOURCE)
    (root / "cart_test.cc").write_text("class Unseen { void a(); };")
    found = {size.name: size for size in class_sizes.class_sizes(root)}
assert found.keys() == {"Cart", "Item"}, found
assert found["Cart"].methods == 4, found  # the constructor, add, total, operator==
assert found["Item"].methods == 0, found
assert found["Cart"].lines == 18 + 4, found  # 18 in the header; 3 and 1 in the source
print("classes are measured as they are")
sys.exit(0)
