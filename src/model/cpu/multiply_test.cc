// The basis of the guarantee in kernels.h: a row's product has the same bits whatever other rows
// are computed, in every tile and at every edge.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "model/cpu/kernels.h"

namespace tritonsmith::model::cpu {
namespace {

template <typename T>
std::vector<T> wave(std::int64_t count, double step) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(std::sin(step * static_cast<double>(i) + 0.3));
  return values;
}

template <typename T>
int rows_that_differ_alone(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  const auto a = wave<T>(rows * depth, 1.1), b = wave<T>(depth * columns, 0.7);
  std::vector<T> all(static_cast<std::size_t>(rows * columns)),
      one(static_cast<std::size_t>(columns));
  Product<T> product = {.m = rows,
                        .n = columns,
                        .k = depth,
                        .a = a.data(),
                        .a_row = depth,
                        .b = b.data(),
                        .b_row = columns,
                        .c = all.data(),
                        .c_row = columns};
  kernels<T>().multiply(product);
  int different = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    product.m = 1;
    product.a = a.data() + row * depth;
    product.c = one.data();
    kernels<T>().multiply(product);
    different += std::memcmp(one.data(), all.data() + row * columns, one.size() * sizeof(T)) != 0;
  }
  return different;
}

TEST(Multiply, GivesARowTheSameBitsAloneAndAmongOthers) {
  for (const std::int64_t columns : {1, 7, 8, 16, 17, 24, 31, 48, 50})
    for (const std::int64_t depth : {1, 50, 300}) {
      EXPECT_EQ(rows_that_differ_alone<float>(23, columns, depth), 0) << columns << " " << depth;
      EXPECT_EQ(rows_that_differ_alone<double>(23, columns, depth), 0) << columns << " " << depth;
    }
}

}  // namespace
}  // namespace tritonsmith::model::cpu
