#include "gym/trial/patterns.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace tritonsmith::gym::trial {
namespace {

using device::InputChange;
using device::Pattern;

at::Tensor chance_like(const at::Tensor& tensor) {
  return at::rand(tensor.sizes(), at::dtype(at::kFloat).device(tensor.device()));
}

at::Tensor random_places(std::int64_t count, std::int64_t below, const at::Tensor& like) {
  return at::randint(below, {count}, at::dtype(at::kLong).device(like.device()));
}

// Rows of each kind lie at every `period`th place. The period is odd to programs, which often take
// a power of two of them.
class Rows {
 public:
  Rows(const at::Tensor& rows, Rng& rng)
      : rows_(rows),
        period_(rows.size(0) < kFew ? kFew : 11 + static_cast<std::int64_t>(rng.below(8))),
        next_(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(period_)))) {}
  // Returns a view of the next kind's rows, which may be none.
  at::Tensor next() {
    const std::int64_t first = next_++ % period_;
    return rows_.slice(0, std::min(first, rows_.size(0)), rows_.size(0), period_);
  }

 private:
  static constexpr std::int64_t kFew = 8;
  at::Tensor rows_;
  std::int64_t period_, next_;
};

// A few sorted rows are enough, and sorting is slow.
void sort_rows(at::Tensor rows, bool descending) {
  constexpr std::int64_t most = 32;
  if (rows.size(0) > most) rows = rows.narrow(0, 0, most);
  if (rows.numel() > 0) rows.copy_(std::get<0>(rows.sort(-1, descending)));
}

// Moves these elements up and down in turn, by up to twice `reach`. Their places differ, or count
// once.
void move_at(at::Tensor& all, const at::Tensor& at, double reach) {
  const at::Tensor signs =
      at::arange(at.numel(), at.options()).remainder_(2).mul_(-2).add_(1).to(at::kFloat);
  const at::Tensor by = (reach * (1 + chance_like(at)) * signs).to(all.scalar_type());
  all.index_copy_(0, at, all.index_select(0, at) + by);
}

void move_some_elements(at::Tensor& all, double reach) {
  constexpr std::int64_t least = 4, most = 4096, one_in = 4096;
  const std::int64_t count =
      std::min(all.numel() / 8, std::clamp(all.numel() / one_in, least, most));
  if (count == 0) return;
  move_at(all, random_places(count, all.numel(), all), reach);
}

// The last index of each dimension gets two large elements, one up and one down. So no reduction
// over any dimension may leave its last element out.
void move_last_of_each(at::Tensor& tensor, double reach) {
  if (tensor.numel() < 16) return;
  at::Tensor all = tensor.view({-1});
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const std::int64_t size = tensor.size(dim), stride = tensor.stride(dim);
    if (size == 1) continue;
    const at::Tensor any = random_places(2, tensor.numel(), all);
    const at::Tensor index = any.div(stride, "floor").remainder_(size);
    move_at(all, any + (index.neg().add_(size - 1)).mul_(stride), reach);
  }
}

// Gives each row one value, its first. Values that are sums of few powers of two have exact means,
// so that PyTorch's own rounding does not hide a wrong epsilon.
void level_rows(at::Tensor rows, bool may_round) {
  if (rows.numel() == 0) return;
  at::Tensor value = rows.narrow(1, 0, 1).clone();
  if (may_round) value = value.mul_(8).floor_().add_(0.5).div_(8);
  rows.copy_(value.expand_as(rows));
}

// A few rows get one large element each, or one far below the others with a negative `reach`. The
// places lie evenly from a random one on, so that no half of a row has them all.
void move_one_in_each(at::Tensor rows, double reach) {
  if (rows.numel() == 0) return;
  const std::int64_t count = rows.size(0), length = rows.size(1);
  const at::Tensor from = random_places(1, length, rows);
  const at::Tensor steps = at::arange(count, from.options()).mul_(length).div_(count, "floor");
  const at::Tensor at = (from + steps).remainder_(length).unsqueeze(1);
  const at::Tensor by = (reach * (1 + chance_like(at))).to(rows.scalar_type());
  rows.scatter_(1, at, rows.gather(1, at) + by);
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

void make_uneven(at::Tensor& tensor, const InputChange& change) {
  constexpr double little = 4, level = 0.5;
  const bool moves = change.reach > 0;
  Rng rng(change.seed, "uneven", 0);
  const std::int64_t length = tensor.dim() > 0 ? tensor.size(-1) : 1;
  const at::Tensor table = tensor.view({-1, length});
  Rows rows(table, rng);
  sort_rows(rows.next(), false);
  sort_rows(rows.next(), true);
  if (change.may_tie) level_rows(rows.next(), moves);
  if (!moves) return;
  const double shift = std::min(little, change.reach);
  rows.next().add_(shift);
  rows.next().sub_(shift);
  move_one_in_each(rows.next(), change.reach);
  move_one_in_each(rows.next(), -change.reach);
  at::Tensor all = tensor.view({-1});
  move_some_elements(all, change.reach);
  if (change.may_tie) {
    rows.next().zero_();
    if (table.size(0) > 1) rows.next().fill_(level);
    level_slices(tensor, level, rng);
  }
  move_last_of_each(tensor, change.reach);
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

void make_ragged(at::Tensor& tensor, const InputChange& change) {
  constexpr double smallest = -3, smallest_block = -4;  // powers of two
  Rng rng(change.seed, "ragged", 0);
  const auto block = static_cast<std::int64_t>(32 + rng.below(97));
  const double largest = std::log2(std::max(1.0, change.reach));
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

void flip(at::Tensor& tensor) {
  constexpr double share = 1.0 / 8;
  const at::Tensor chosen = chance_like(tensor).lt_(share).to(at::kBool);
  if (tensor.scalar_type() == at::kBool) {
    tensor.logical_xor_(chosen);
    return;
  }
  const at::Tensor low = tensor.min(), high = tensor.max();
  tensor.copy_(at::where(chosen, at::where(tensor == low, high, low), tensor));
}

void skew(at::Tensor& tensor) {
  constexpr double share = 0.7;
  const at::Tensor same = tensor.reshape({-1})[0].clone();
  tensor.copy_(at::where(chance_like(tensor).lt_(share).to(at::kBool), same, tensor));
}

void make_ties(at::Tensor& tensor, const InputChange& change) {
  constexpr std::size_t most = 8;
  tensor.mul_(2 * change.reach).round_().div_(2 * change.reach);
  const std::size_t count = std::min(most, change.numbers.size());
  for (std::size_t k = 0; k < count; ++k)
    tensor.masked_fill_(chance_like(tensor).lt_(1.0 / 16).to(at::kBool), change.numbers[k]);
}

void put_specials(at::Tensor& tensor) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  constexpr std::int64_t one_in = 512;
  at::Tensor all = tensor.view({-1});
  for (const double special : {std::numeric_limits<double>::quiet_NaN(), endless, -endless})
    all.index_fill_(0, random_places(1 + all.numel() / one_in, all.numel(), all), special);
}

void apply_to_ordered(const InputChange& change, at::Tensor& tensor) {
  switch (change.pattern) {
    case Pattern::none:
      return;
    case Pattern::uneven:
      return make_uneven(tensor, change);
    case Pattern::ragged:
      return make_ragged(tensor, change);
    case Pattern::noise:
      return add_noise(tensor);
    case Pattern::flips:
      return flip(tensor);
    case Pattern::sorted:
      tensor.copy_(std::get<0>(tensor.reshape({-1}).sort()).view(tensor.sizes()));
      return;
    case Pattern::skewed:
      return skew(tensor);
    case Pattern::ties:
      return make_ties(tensor, change);
    case Pattern::specials:
      return put_specials(tensor);
  }
}

}  // namespace

void apply_pattern(const InputChange& change, at::Tensor& tensor) {
  if (change.pattern == Pattern::none || tensor.numel() == 0) return;
  if (tensor.is_contiguous()) return apply_to_ordered(change, tensor);
  at::Tensor ordered = tensor.contiguous();
  apply_to_ordered(change, ordered);
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
