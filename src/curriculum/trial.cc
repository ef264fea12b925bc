#include "curriculum/trial.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace tritonsmith::curriculum {
namespace {

using Row = std::vector<double>;

double sum_of(const Row& row, double (*of)(double)) {
  return std::accumulate(row.begin(), row.end(), 0.0,
                         [of](double total, double x) { return total + of(x); });
}
double square(double x) { return x * x; }

double reduce(Op op, const Row& row) {
  const auto n = static_cast<double>(row.size());
  const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
  const double largest = *std::max_element(row.begin(), row.end());
  double total = 0;
  switch (op) {
    case Op::sum:
      return mean * n;
    case Op::mean:
      return mean;
    case Op::max:
      return largest;
    case Op::min:
      return *std::min_element(row.begin(), row.end());
    case Op::sumsq:
      return sum_of(row, square);
    case Op::l2norm:
      return std::sqrt(sum_of(row, square));
    case Op::var:
      for (const double x : row) total += square(x - mean);
      return total / n;
    case Op::logsumexp:
      for (const double x : row) total += std::exp(x - largest);
      return largest + std::log(total);
    default:
      CHECK(false, "{} reduces nothing", describe(op).name);
  }
}

void normalize(Op op, const Constants& constants, Row& row) {
  double shift = 0, scale = 1;
  switch (op) {
    case Op::softmax:
    case Op::log_softmax:
      shift = reduce(Op::logsumexp, row);
      break;
    case Op::layernorm:
      shift = reduce(Op::mean, row);
      scale = 1 / std::sqrt(reduce(Op::var, row) + constants[0]);
      break;
    case Op::rmsnorm:
      scale =
          1 / std::sqrt(reduce(Op::sumsq, row) / static_cast<double>(row.size()) + constants[0]);
      break;
    case Op::l2normalize:
      scale = 1 / (1 + reduce(Op::l2norm, row));
      break;
    case Op::center:
      shift = reduce(Op::mean, row);
      break;
    case Op::peak_normalize:
      scale = 1 / (1 + std::max(reduce(Op::max, row), -reduce(Op::min, row)));
      break;
    default:
      CHECK(false, "{} is no row operator", describe(op).name);
  }
  for (double& x : row) x = op == Op::softmax ? std::exp(x - shift) : (x - shift) * scale;
}

class Trial {
 public:
  Trial(const Program& program, int rows, int n, Rng rng) : rows_(rows), n_(n) {
    for (const Input& input : program.inputs) {
      // Every input is a full matrix here. A row or a column is a matrix of repeated values, and a
      // product's matrix is n by n.
      std::vector<Row> values(
          static_cast<std::size_t>(input.shape == InputShape::matrix ? n : rows),
          Row(static_cast<std::size_t>(n)));
      for (Row& row : values)
        for (double& x : row) x = input.draw == Draw::normal ? rng.normal() : rng.uniform();
      if (input.shape == InputShape::row) std::fill(values.begin(), values.end(), values[0]);
      if (input.shape == InputShape::column)
        for (Row& row : values) std::fill(row.begin(), row.end(), row[0]);
      inputs_.push_back(std::move(values));
    }
  }

  std::vector<Row> value(const Expression& tree) const {
    if (tree.op == Op::input) return inputs_[static_cast<std::size_t>(tree.input)];
    const Operator& op = describe(tree.op);
    std::vector<Row> x = value(tree.children[0]);
    if (op.kind == OpKind::matmul) return product(x, inputs_[1]);
    if (op.kind == OpKind::binary)
      return combined(op, tree.constants, std::move(x), value(tree.children[1]));
    for (Row& row : x) {
      if (op.kind == OpKind::reduction)
        row = {reduce(tree.op, row)};
      else if (op.kind == OpKind::row)
        normalize(tree.op, tree.constants, row);
      else
        for (double& each : row) each = op.value(each, 0, tree.constants);
    }
    return x;
  }

 private:
  static std::vector<Row> combined(const Operator& op, const Constants& constants,
                                   std::vector<Row> x, const std::vector<Row>& y) {
    for (std::size_t r = 0; r < x.size(); ++r)
      for (std::size_t i = 0; i < x[r].size(); ++i) x[r][i] = op.value(x[r][i], y[r][i], constants);
    return x;
  }

  std::vector<Row> product(const std::vector<Row>& x, const std::vector<Row>& matrix) const {
    std::vector<Row> result(static_cast<std::size_t>(rows_),
                            Row(static_cast<std::size_t>(n_), 0.0));
    for (std::size_t r = 0; r < result.size(); ++r)
      for (std::size_t k = 0; k < matrix.size(); ++k)
        for (std::size_t i = 0; i < result[r].size(); ++i)
          result[r][i] += x[r][k] * matrix[k][i] / 20;
    return result;
  }

  int rows_, n_;
  std::vector<std::vector<Row>> inputs_;
};

}  // namespace

std::vector<double> try_out(const Program& program, int rows, int n, Rng rng) {
  std::vector<double> flat;
  for (const Row& row : Trial(program, rows, n, rng).value(program.root))
    flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

bool is_nearly_constant(const std::vector<double>& outputs) {
  const auto n = static_cast<double>(outputs.size());
  const double mean = std::accumulate(outputs.begin(), outputs.end(), 0.0) / n;
  double variance = 0;
  for (const double each : outputs) variance += square(each - mean) / n;
  return !(std::sqrt(variance) >= 4e-4 + 2e-3 * std::fabs(mean));
}

}  // namespace tritonsmith::curriculum
