#include "gym/trial/perturb/patterns.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "base/rng.h"
#include "gym/tensors/scalar_type.h"
#include "gym/trial/perturb/bent_sizes.h"
#include "gym/trial/perturb/element_moves.h"
#include "gym/trial/perturb/large_rows.h"
#include "gym/trial/perturb/named_elements.h"
#include "gym/trial/perturb/named_values.h"
#include "gym/trial/perturb/rows.h"
#include "gym/trial/perturb/small_rows.h"
#include "gym/trial/perturb/truth_rows.h"
#include "gym/trial/perturb/whole_numbers.h"

namespace tritonsmith::gym::trial {
namespace {

using device::InputChange;
namespace pattern = device::pattern;

at::Tensor chance_like(const at::Tensor& tensor) {
  return at::rand(tensor.sizes(), at::dtype(at::kFloat).device(tensor.device()));
}

// The positions differ if there are few of which to choose.
at::Tensor random_positions(std::int64_t count, std::int64_t below, const at::Tensor& like) {
  constexpr std::int64_t few = 4096;
  if (count <= below && below <= few)
    return at::randperm(below, at::dtype(at::kLong).device(like.device())).narrow(0, 0, count);
  return at::randint(below, {count}, at::dtype(at::kLong).device(like.device()));
}

// A few sorted rows are enough, and sorting is slow.
void sort_rows(at::Tensor rows, bool descending) {
  constexpr std::int64_t most = 8;
  if (rows.size(0) > most) rows = rows.narrow(0, 0, most);
  if (rows.numel() > 0) rows.copy_(std::get<0>(rows.sort(-1, descending)));
}

// Gives each row one value, its first. Values that are sums of few powers of two have exact means,
// so that PyTorch's own rounding does not hide a wrong epsilon.
void level_rows(at::Tensor rows, bool may_round) {
  if (rows.numel() == 0) return;
  at::Tensor value = rows.narrow(1, 0, 1).clone();
  if (may_round) value = value.mul_(8).floor_().add_(0.5).div_(8);
  rows.copy_(value.expand_as(rows));
}

// Elements of a row become large that lie a power of two apart, and the largest few lie farther apart
// than the others. So whoever looks for the largest few of each class of positions, modulo a power
// of two, misses some.
void move_apart(at::Tensor rows, double reach, Rng& rng) {
  constexpr std::int64_t nearest = 8, fewest = 4, most = 16, largest = 8;
  constexpr int distances = 6;
  constexpr double of_coarse = 1.0 / 8;  // sums of many must not overflow in float16
  if (rows.element_size() < 4) reach *= of_coarse;
  const std::int64_t length = rows.size(1);
  if (rows.numel() == 0 || length < fewest * nearest) return;
  const auto part = [&](std::int64_t count) {  // the largest power of two that `count` times fits
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(length / count)));
  };
  const auto enlarge = [&](std::int64_t apart, std::int64_t count, double least, double more) {
    const auto from = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(apart)));
    at::Tensor chosen = rows.slice(1, from, std::min(length, from + count * apart), apart);
    chosen.add_((reach * (least + more * chance_like(chosen))).to(chosen.scalar_type()));
  };
  enlarge(std::min(nearest << rng.below(distances), part(fewest)), most, 1, 1);
  enlarge(std::max(nearest, part(largest)), largest, 2.2, 0.8);
}

// Slices of one value make a statistic over any dimensions but these two degenerate.
void level_slices(at::Tensor& tensor, double value, Rng& rng) {
  constexpr std::int64_t few = 4;
  for (std::int64_t dim = 0; dim < std::min<std::int64_t>(2, tensor.dim() - 1); ++dim) {
    const std::int64_t size = tensor.size(dim);
    if (size < few) continue;
    const auto first = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(size)));
    tensor.select(dim, first).fill_(value);
    tensor.select(dim, (first + 1) % size).zero_();
  }
}

// Each number replaces an element. If `fills_small`, a tensor with fewer elements than
// numbers holds some of them alone.
void put_numbers(at::Tensor& tensor, const std::vector<double>& numbers, bool fills_small = false) {
  constexpr std::size_t most = 64;
  at::Tensor all = tensor.view({-1});
  if (fills_small && all.numel() <= std::ssize(numbers)) {
    const at::Tensor given = at::tensor(numbers, at::kDouble).to(all.options());
    all.copy_(given.index_select(0, random_positions(all.numel(), given.numel(), given)));
    return;
  }
  const auto half = static_cast<std::size_t>(all.numel() / 2);
  const std::size_t count = std::min({most, half, numbers.size()});
  if (count == 0) return;
  const at::Tensor at = random_positions(static_cast<std::int64_t>(count), all.numel(), all);
  const std::vector<double> first(numbers.begin(),
                                  numbers.begin() + static_cast<std::ptrdiff_t>(count));
  all.index_copy_(0, at, at::tensor(first, at::kDouble).to(all.options()));
}

// No row has its largest element in this column. Of few rows, each has its least element elsewhere.
void lower_column(const at::Tensor& table, double reach, Rng& rng) {
  constexpr std::int64_t few = 4;
  if (table.size(0) < Rows::kFew || table.size(1) < few) return;
  const auto others = static_cast<std::uint64_t>(table.size(1) - 1);  // the last one is named
  const auto column = static_cast<std::int64_t>(rng.below(others));
  table.select(1, column).sub_(3 * reach);
}

void make_uneven(at::Tensor& tensor, const pattern::Uneven& uneven, std::uint64_t seed) {
  constexpr double little = 4, level = 0.5, beyond = 1.5;
  const bool is_moved = uneven.reach > 0;
  Rng rng(seed, "uneven", 0);
  const std::int64_t length = tensor.dim() > 0 ? tensor.size(-1) : 1;
  const at::Tensor table = tensor.view({-1, length});
  Rows rows(table, rng);
  sort_rows(rows.next(), false);
  sort_rows(rows.next(), true);
  if (uneven.may_tie) level_rows(rows.next_kept(), is_moved);
  if (!is_moved) return put_numbers(tensor, uneven.shifts);
  at::Tensor zeros, ones;
  if (uneven.may_tie) {
    zeros = rows.next_kept();
    ones = rows.next_kept();
  }
  // Its largest elements lie as far as a named one.
  const at::Tensor apart = rows.next_kept();
  NamedElements named(
      tensor,
      {.reach = uneven.reach, .positions = uneven.positions, .middle_first = !uneven.may_tie}, seed,
      &rows);
  const double shift = std::min(little, uneven.reach);
  rows.next().add_(shift);
  rows.next().sub_(shift);
  ElementMoves moves;
  move_one_in_each(rows.next_numbers(), length, uneven.reach, rng, moves);
  move_one_in_each(rows.next_numbers(), length, -uneven.reach, rng, moves);
  move_apart(apart, uneven.reach, rng);
  move_some_elements(tensor.numel(), uneven.reach, rng, moves);
  at::Tensor all = tensor.view({-1});
  moves.make(all);
  if (uneven.may_tie) {
    zeros.zero_();
    if (table.size(0) > 1) ones.fill_(level);
    level_slices(tensor, level, rng);
  }
  named.move();
  for (const double number : uneven.shifts) {
    if (table.size(0) > 1)
      table.select(0, random_position(table.size(0), rng)).add_(beyond * number);
    // A window of a pooling, for example, takes in parts of many rows.
    if (tensor.dim() < 3 || tensor.size(-2) < 2) continue;
    const at::Tensor slices = tensor.view({-1, tensor.size(-2), length});
    if (slices.size(0) > 2)
      slices.select(0, random_position(slices.size(0), rng)).add_(beyond * number);
  }
  if (!uneven.may_tie) lower_column(table, uneven.reach, rng);
}

// Parts of a row become larger and smaller in turn, so that the mean of no part is the row's.
void part_rows(at::Tensor& tensor, Rng& rng) {
  constexpr std::int64_t least = 16;
  constexpr double smaller = 1.0 / 8;
  const std::int64_t length = tensor.size(-1);
  if (length < least) return;
  const auto parts = static_cast<std::int64_t>(4 + rng.below(4));
  const auto first = static_cast<std::int64_t>(rng.below(2));
  for (std::int64_t part = first; part < parts; part += 2) {
    const std::int64_t begin = part * length / parts, end = (part + 1) * length / parts;
    tensor.narrow(-1, begin, end - begin).mul_(smaller);
  }
}

void make_ragged(at::Tensor& tensor, const pattern::Ragged& ragged, std::uint64_t seed) {
  constexpr double smallest = -3, smallest_block = -4;  // powers of two
  Rng rng(seed, "ragged", 0);
  const auto block = static_cast<std::int64_t>(32 + rng.below(97));
  const double largest = std::log2(std::max(1.0, ragged.largest));
  at::Tensor all = tensor.view({-1});
  all.mul_(chance_like(all).mul_(largest - smallest).exp2_().to(all.scalar_type()));
  const std::int64_t blocks = all.numel() / block, rest = all.numel() % block;
  const at::Tensor of_blocks = at::rand({blocks + 1}, at::dtype(at::kFloat).device(all.device()))
                                   .mul_(smallest_block)
                                   .add_(smallest)
                                   .exp2_()
                                   .to(all.scalar_type());
  all.narrow(0, 0, blocks * block)
      .view({blocks, block})
      .mul_(of_blocks.narrow(0, 0, blocks).unsqueeze(1));
  all.narrow(0, blocks * block, rest).mul_(of_blocks[blocks]);
  if (tensor.dim() > 0) part_rows(tensor, rng);
}

void add_noise(at::Tensor& tensor) {
  const at::Tensor factor = chance_like(tensor).mul_(2.5).add_(0.5).to(tensor.scalar_type());
  tensor.copy_(at::where(tensor == 0, factor, tensor * factor));
}

// Each row gets the two largest numbers at positions of their own. In some rows the largest stands
// at the last index, in the middle, or at one of the positions or beside it.
void put_two_largest(at::Tensor& tensor, const pattern::Near& near, std::uint64_t seed) {
  if (tensor.dim() == 0 || tensor.size(-1) < 2) return;
  const std::int64_t length = tensor.size(-1), largest = near.largest;
  at::Tensor rows = tensor.view({-1, length});
  std::vector<std::int64_t> named = indices_beside(near.positions, length);
  named.insert(named.begin(), {length - 1, length / 2});
  const std::int64_t count = std::min(std::ssize(named), rows.size(0) / 2);
  named.resize(static_cast<std::size_t>(count));
  at::Tensor first = random_positions(rows.size(0), length, rows).unsqueeze(1);
  Rng rng(seed, "largest", 0);
  first.narrow(0, random_position(rows.size(0) - count + 1, rng), count)
      .copy_(at::tensor(named, at::kLong).unsqueeze(1));
  const at::Tensor further = random_positions(rows.size(0), length - 1, rows).unsqueeze(1);
  rows.scatter_(1, first, largest);
  rows.scatter_(1, (first + 1 + further).remainder(length), largest - 1);
}

// Each element becomes the largest number, or one of the seven before it.
void put_large_neighbours(at::Tensor& tensor, std::int64_t largest) {
  constexpr std::int64_t count = 8;
  tensor.copy_(
      at::randint(count, tensor.sizes(), tensor.options().dtype(at::kLong)).neg_().add_(largest));
}

// One element at least becomes the other value.
void flip(at::Tensor& tensor) {
  constexpr double share = 1.0 / 8;
  const at::Tensor chosen = chance_like(tensor).lt_(share).to(at::kBool);
  chosen.view({-1}).index_fill_(0, random_positions(1, tensor.numel(), tensor), true);
  if (tensor.scalar_type() == at::kBool) {
    tensor.logical_xor_(chosen);
    return;
  }
  const at::Tensor low = tensor.min(), high = tensor.max();
  tensor.copy_(at::where(chosen, at::where(tensor == low, high, low), tensor));
}

// Most elements become one and the same of the drawn values, or its neighbour.
void skew(at::Tensor& tensor) {
  constexpr double share = 0.7, share_of_neighbours = 0.1;
  const at::Tensor same = tensor.reshape({-1})[0].clone(), most = tensor.max();
  const at::Tensor chance = chance_like(tensor);
  const at::Tensor near = at::minimum(same + 1, most);
  tensor.copy_(
      at::where(chance.lt(share_of_neighbours), near, at::where(chance.lt(share), same, tensor)));
  // A block of a kernel then holds one value alone, whose count may exceed what the kernel expects.
  tensor.view({-1}).narrow(0, 0, tensor.numel() / 2).copy_(same);
}

// The values 0.5, the next one, and so on, in any order. All lie below 1, where a type's values have
// one distance, so the tensor has at most kMostNeighbours elements.
void put_neighbours(at::Tensor& tensor) {
  CHECK(tensor.numel() <= kMostNeighbours, "a tensor with too many elements for values below 1");
  const double distance = tensor.scalar_type() == at::kDouble ? 0x1p-53 : 0x1p-24;
  const at::Tensor ranks = at::randperm(tensor.numel(), tensor.options().dtype(at::kDouble));
  tensor.view({-1}).copy_(ranks.mul_(distance).add_(0.5));
}

// Each number changes by a factor of its own, or, in a sorted list, the steps come in the opposite
// order. If the steps are nearly the same in both orders, the list is bent.
void change_listed(at::Tensor& tensor, std::uint64_t seed) {
  constexpr double little = 0.02;
  at::Tensor all = tensor.view({-1});
  const at::Tensor steps = all.diff();
  if (steps.ge(0).all().item<bool>()) {
    const at::Tensor reversed = at::cat({all.narrow(0, 0, 1), steps.flip(0)}).cumsum(0);
    const at::Tensor range = all[all.numel() - 1] - all[0];
    if ((reversed - all).abs().max().le(range * little).item<bool>())
      return bend_sizes(tensor, seed);
    all.narrow(0, 1, all.numel() - 1).copy_(reversed.narrow(0, 1, all.numel() - 1));
  } else {
    all.mul_(chance_like(all).mul_(0.6).add_(0.7).to(all.scalar_type()));
  }
}

// Small negative numbers round to -0. A sort by bits orders it before 0, and PyTorch's does not.
void give_zeros_one_sign(at::Tensor& tensor) { tensor.add_(0.0); }

void make_ties(at::Tensor& tensor, const pattern::Ties& ties) {
  constexpr std::size_t most = 8;
  tensor.mul_(2 * ties.scale).round_().div_(2 * ties.scale);
  give_zeros_one_sign(tensor);
  const std::size_t count = std::min(most, ties.numbers.size());
  for (std::size_t k = 0; k < count; ++k)
    if (tensors::is_finite_in(tensor.scalar_type(), ties.numbers[k]))
      tensor.masked_fill_(chance_like(tensor).lt_(1.0 / 16).to(at::kBool), ties.numbers[k]);
}

void round_to_grid(at::Tensor& tensor, const pattern::Grid& grid) {
  const auto number = [&](double value) -> at::Scalar {
    return tensor.is_floating_point() ? at::Scalar(value)
                                      : at::Scalar(static_cast<std::int64_t>(value));
  };
  const at::Scalar from = number(grid.from), step = number(grid.step);
  tensor.sub_(from).floor_divide_(step).mul_(step).add_(from);
}

// The largest size of each group of elements becomes one number.
void make_scaled_ties(at::Tensor& tensor, const pattern::ScaledTies& ties, std::uint64_t seed) {
  tensor.mul_(2).round_().div_(2).clamp_(-ties.largest, ties.largest);
  give_zeros_one_sign(tensor);
  at::Tensor shaped = tensor.view(ties.shape);
  if (shaped.dim() == 0) return;
  const std::int64_t dim = at::maybe_wrap_dim(ties.dim, shaped.dim());
  Rng rng(seed, "scaled ties", 0);
  at::Tensor slice = shaped.select(dim, random_position(shaped.size(dim), rng));
  slice.copy_(at::where(chance_like(slice).lt(0.5).to(at::kBool), ties.largest, -ties.largest));
}

// The nth tensor takes another number in turn than the one before it, so that all pairs occur.
void put_pairs(at::Tensor& all, const pattern::Specials& specials) {
  constexpr std::size_t one_in = 16;
  const std::size_t kinds = specials.numbers.size();
  const auto room = static_cast<std::size_t>(all.numel()) / one_in;
  Rng rng(*specials.common, "pairs", 0);
  std::set<std::int64_t> taken;
  while (taken.size() < std::min(room, kinds * kinds)) {
    const std::size_t k = taken.size();
    const std::int64_t position = random_position(all.numel(), rng);
    if (!taken.insert(position).second) continue;
    const std::size_t which = (specials.nth % 2 == 0 ? k : k / kinds + k) % kinds;
    all.select(0, position).fill_(specials.numbers[which]);
  }
}

void put_specials(at::Tensor& tensor, const pattern::Specials& specials, std::uint64_t seed) {
  constexpr std::int64_t one_in = 512;
  at::Tensor all = tensor.view({-1});
  for (const double special : specials.numbers)
    all.index_fill_(0, random_positions(1 + all.numel() / one_in, all.numel(), all), special);
  put_in_rows(tensor, {seed, specials.positions}, specials.numbers);
  if (specials.common) put_pairs(all, specials);
}

void make_frequent(at::Tensor& tensor, const std::vector<double>& numbers) {
  constexpr double share = 1.0 / 16;
  for (const double number : numbers)
    tensor.masked_fill_(chance_like(tensor).lt_(share).to(at::kBool), number);
}

// Applies each pattern to a tensor whose elements lie in order.
struct Applier {
  at::Tensor& tensor;
  std::uint64_t seed;

  void operator()(std::monostate) const {}
  void operator()(const pattern::Uneven& uneven) const { make_uneven(tensor, uneven, seed); }
  void operator()(const pattern::Ragged& ragged) const { make_ragged(tensor, ragged, seed); }
  void operator()(const pattern::Noise&) const { add_noise(tensor); }
  void operator()(const pattern::Flips&) const { flip(tensor); }
  void operator()(const pattern::Sorted& sorted) const {
    if (sorted.leaves_one_out) leave_one_out(tensor, sorted.numbers);
    make_frequent(tensor, sorted.frequent);
    put_numbers(tensor, sorted.numbers, sorted.fills_small);
    tensor.copy_(std::get<0>(tensor.reshape({-1}).sort()).view(tensor.sizes()));
  }
  void operator()(const pattern::Skewed& skewed) const {
    skew(tensor);
    put_numbers(tensor, skewed.numbers);
    put_extremes(tensor, {seed, skewed.positions}, skewed.numbers, IfNarrow::equal_extremes);
  }
  void operator()(const pattern::Extremes& extremes) const {
    put_numbers(tensor, extremes.numbers);
    put_extremes(tensor, {seed, extremes.positions}, extremes.numbers, IfNarrow::nothing);
  }
  void operator()(const pattern::Near& near) const { put_two_largest(tensor, near, seed); }
  void operator()(const pattern::NearAll& near) const {
    put_large_neighbours(tensor, near.largest);
  }
  void operator()(const pattern::Ties& ties) const { make_ties(tensor, ties); }
  void operator()(const pattern::Numbers& given) const {
    put_numbers(tensor, given.numbers, given.fills_small);
  }
  void operator()(const pattern::Grid& grid) const { round_to_grid(tensor, grid); }
  void operator()(const pattern::ScaledTies& ties) const { make_scaled_ties(tensor, ties, seed); }
  void operator()(const pattern::Close&) const { put_neighbours(tensor); }
  void operator()(const pattern::Truths& truths) const { put_truths(tensor, truths, seed); }
  void operator()(const pattern::Ends& ends) const { NamedElements(tensor, ends, seed).move(); }
  void operator()(const pattern::Specials& specials) const { put_specials(tensor, specials, seed); }
  void operator()(const pattern::Whole& whole) const { change_whole_numbers(tensor, whole, seed); }
  void operator()(const pattern::Listed&) const { change_listed(tensor, seed); }
  void operator()(const pattern::Bent&) const { bend_sizes(tensor, seed); }
  void operator()(const pattern::SmallRows& small) const { make_rows_small(tensor, small); }
  void operator()(const pattern::LargeRows& large) const { make_rows_large(tensor, large, seed); }
};

}  // namespace

void apply_pattern(const InputChange& change, at::Tensor& tensor) {
  if (!change.has_pattern() || tensor.numel() == 0) return;
  if (tensor.is_contiguous()) return std::visit(Applier{tensor, change.seed}, change.pattern);
  at::Tensor ordered = tensor.contiguous();
  std::visit(Applier{ordered, change.seed}, change.pattern);
  tensor.copy_(ordered);
}

at::Tensor changeable_view(const at::Tensor& tensor) {
  if (tensor.is_non_overlapping_and_dense()) return tensor;
  at::Tensor all = at::empty({0}, tensor.options());
  const auto elements =
      static_cast<std::int64_t>(tensor.storage().nbytes()) / tensor.element_size();
  all.set_(tensor.storage(), 0, {elements}, {1});
  return all;
}

}  // namespace tritonsmith::gym::trial
