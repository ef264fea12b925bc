#include "gym/trial/perturb/named_values.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/rng.h"

namespace tritonsmith::gym::trial {
namespace {

struct Position {
  std::int64_t dim = 0, index = 0, repeats = 2;
};

// The last dimension comes last, so that what is put along it stays. Numbers of the code are many, so
// each gets one row only.
std::vector<Position> named_positions(const at::Tensor& tensor,
                                      std::span<const std::int64_t> given) {
  constexpr std::int64_t fewest = 3, fewest_rows = 4;
  std::vector<Position> positions;
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const std::int64_t size = tensor.size(dim);
    if (size < fewest || tensor.numel() / size < fewest_rows) continue;
    positions.push_back({dim, size - 1});
    positions.push_back({dim, size / 2});
    for (const std::int64_t index : indices_beside(given, size))
      positions.push_back({dim, index, 1});
  }
  return positions;
}

at::Tensor row_of(const at::Tensor& tensor, std::int64_t dim, std::int64_t nth) {
  at::Tensor row = tensor.movedim(dim, -1);
  while (row.dim() > 1) {
    const std::int64_t size = row.size(-2);
    row = row.select(-2, nth % size);
    nth /= size;
  }
  return row;
}

// Calls `put` with rows for each position, the position in them, and a count from 0. Each row is
// another, and they are no more than half of the rows.
template <typename Put>
void for_each_row(const at::Tensor& tensor, const NamedRows& named, const Put& put) {
  Rng rng(named.seed, "named values", 0);
  std::int64_t nth = 0, dim = -1, first = 0;
  for (const Position& position : named_positions(tensor, named.positions)) {
    const std::int64_t rows = tensor.numel() / tensor.size(position.dim);
    if (position.dim != dim) {
      nth = 0;
      first = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(rows)));
    }
    dim = position.dim;
    for (std::int64_t repeat = 0; repeat < position.repeats && nth < rows / 2; ++repeat, ++nth)
      put(row_of(tensor, dim, (first + nth) % rows), position.index, nth);
  }
}

}  // namespace

std::vector<std::int64_t> indices_beside(std::span<const std::int64_t> positions,
                                         std::int64_t size) {
  std::vector<std::int64_t> indices;
  for (const std::int64_t position : positions)
    for (const std::int64_t index : {position - 1, position})
      if (index >= 0 && index < size) indices.push_back(index);
  return indices;
}

void put_in_rows(at::Tensor& tensor, const NamedRows& rows, std::span<const double> values) {
  for_each_row(tensor, rows, [&](const at::Tensor& row, std::int64_t index, std::int64_t nth) {
    // Another special value would hide this one from a question about the whole row.
    if (row.element_size() > 1) row.masked_fill_(row.isfinite().logical_not_(), 0.5);
    row.select(0, index).fill_(values[static_cast<std::size_t>(nth) % values.size()]);
  });
}

void put_extremes(at::Tensor& tensor, const NamedRows& rows, std::span<const double> numbers,
                  IfNarrow if_narrow) {
  // No more elements than this become extremes. Each of them then has a value of its own, because
  // positions among equal values have no one order.
  constexpr std::int64_t most = 256, room = 4 * most;
  if (numbers.size() < 2 || numbers[1] - numbers[0] < 2) return;
  const auto least = static_cast<std::int64_t>(numbers[0]),
             largest = static_cast<std::int64_t>(numbers[1]);
  const bool has_room = numbers[1] - numbers[0] >= static_cast<double>(room);
  if (!has_room && if_narrow == IfNarrow::nothing) return;
  if (has_room) {
    tensor.copy_(at::where(tensor < least + most, tensor + most, tensor));
    tensor.copy_(at::where(tensor > largest - most, tensor - most, tensor));
  }
  std::int64_t left = most;  // what is put later lies farther out
  for_each_row(tensor, rows, [&](const at::Tensor& row, std::int64_t index, std::int64_t nth) {
    const bool is_up = nth % 2 == 0;
    if (left == 0) return;
    const std::int64_t apart = has_room ? --left : 0;
    if (!has_room) row.clamp_(is_up ? least : least + 1, is_up ? largest - 1 : largest);
    row.select(0, index).fill_(is_up ? largest - apart : least + apart);
  });
}

}  // namespace tritonsmith::gym::trial
