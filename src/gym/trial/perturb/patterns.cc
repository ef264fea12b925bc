#include "gym/trial/perturb/patterns.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/rng.h"
#include "gym/tensors/scalar_type.h"
#include "gym/trial/perturb/whole_numbers.h"

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
    return from(first);
  }
  // The same for rows that only keep their meaning if no named element changes them.
  at::Tensor next_kept() {
    const std::int64_t first = next_++ % period_;
    kept_.push_back(first);
    return from(first);
  }
  bool is_kept(std::int64_t row) const {
    return std::ranges::find(kept_, row % period_) != kept_.end();
  }

 private:
  at::Tensor from(std::int64_t first) const {
    return rows_.slice(0, std::min(first, rows_.size(0)), rows_.size(0), period_);
  }

  static constexpr std::int64_t kFew = 8;
  at::Tensor rows_;
  std::int64_t period_, next_;
  std::vector<std::int64_t> kept_;
};

// A few sorted rows are enough, and sorting is slow.
void sort_rows(at::Tensor rows, bool descending) {
  constexpr std::int64_t most = 32;
  if (rows.size(0) > most) rows = rows.narrow(0, 0, most);
  if (rows.numel() > 0) rows.copy_(std::get<0>(rows.sort(-1, descending)));
}

// Moves these elements up and down in turn, two by up to twice `reach`, the next two by a fifth to
// four fifths of it, where an exponential is large and finite, and so on. Their places differ, or
// count once.
void move_at(at::Tensor& all, const at::Tensor& at, double reach) {
  const at::Tensor nth = at::arange(at.numel(), at.options());
  const at::Tensor signs = nth.remainder(2).mul_(-2).add_(1).to(at::kFloat);
  const at::Tensor chance = chance_like(at);
  const at::Tensor by =
      at::where(nth.remainder(4).lt(2), 1 + chance, 0.2 + 0.6 * chance).mul_(signs).mul_(reach);
  all.index_copy_(0, at, all.index_select(0, at) + by.to(all.scalar_type()));
}

void move_some_elements(at::Tensor& all, double reach) {
  constexpr std::int64_t least = 4, most = 4096, one_in = 4096;
  const std::int64_t count =
      std::min(all.numel() / 8, std::clamp(all.numel() / one_in, least, most));
  if (count == 0) return;
  move_at(all, random_places(count, all.numel(), all), reach);
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

// Elements of a row become large that lie a power of two apart, and the largest few lie farther apart
// than the others. So whoever looks for the largest few of each class of places, modulo a power of
// two, misses some.
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

// Elements at named places: at the last index of each dimension, and at each of the change's places and
// beside it. Elements far up and far down stand at each such index, so that no
// reduction over any dimension may leave it out. They are chosen at first and moved at last, from
// the values that they had at first. So nothing else that happens to the tensor hides them.
class NamedElements {
 public:
  // No element lies in a row that `rows` keeps, if there is another.
  NamedElements(const at::Tensor& tensor, const InputChange& change, const Rows* rows = nullptr)
      : tensor_(tensor), rows_(rows), rng_(change.seed, "places", 0) {
    if (tensor.numel() < 16) return;
    for (std::int64_t dim = 0; dim < tensor.dim(); ++dim)
      if (tensor.size(dim) > 1) add_pairs(dim, tensor.size(dim) - 1, change.reach);
    for (std::int64_t dim = 0; dim < tensor.dim(); ++dim)
      for (const std::int64_t place : change.places)
        for (const std::int64_t index : {place - 1, place})
          if (index >= 0 && index < tensor.size(dim) && tensor.size(dim) > 2)
            add_pairs(dim, index, change.reach);
    std::vector<std::int64_t> at;
    std::vector<double> by;
    for (const auto& [place, move] : moves_) {
      at.push_back(place);
      by.push_back(move);
    }
    if (at.empty()) return;
    at_ = at::tensor(at, at::kLong).to(tensor.device());
    moved_ = tensor.view({-1}).index_select(0, at_) +
             at::tensor(by, at::kDouble).to(tensor.device(), tensor.scalar_type());
  }

  void move() {
    if (at_.defined()) tensor_.view({-1}).index_copy_(0, at_, moved_);
  }

 private:
  // The first pair lies beyond all that other changes move, and in rows of its own, so that it decides
  // a row's largest and least. The second is smaller: an exponential is large and finite there.
  void add_pairs(std::int64_t dim, std::int64_t index, double reach) {
    for (const double sign : {1.0, -1.0}) {
      add(dim, index, sign * (2.5 + 0.5 * rng_.uniform()) * reach, sign > 0 ? highest_ : lowest_);
      add(dim, index, sign * (0.2 + 0.6 * rng_.uniform()) * reach, smaller_);
    }
  }

  // `taken`: the rows that already hold such an element.
  void add(std::int64_t dim, std::int64_t index, double by, std::set<std::int64_t>& taken) {
    constexpr int most_tries = 32;
    const std::int64_t count = tensor_.numel(), stride = tensor_.stride(dim);
    for (int tries = 1; tries <= most_tries; ++tries) {
      const auto any = static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(count)));
      const std::int64_t place = any + (index - any / stride % tensor_.size(dim)) * stride;
      const std::int64_t row = place / tensor_.size(-1);
      const bool is_free = !taken.contains(row) && (rows_ == nullptr || !rows_->is_kept(row));
      if ((!is_free && tries < most_tries) || !moves_.emplace(place, by).second) continue;
      taken.insert(row);
      return;
    }
  }

  at::Tensor tensor_, at_, moved_;
  const Rows* rows_;
  Rng rng_;
  std::map<std::int64_t, double> moves_;  // by place in memory
  std::set<std::int64_t> highest_, lowest_, smaller_;
};

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

std::int64_t random_row(const at::Tensor& table, Rng& rng) {
  return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(table.size(0))));
}

// Each number takes the place of an element.
void put_numbers(at::Tensor& tensor, const std::vector<double>& numbers) {
  constexpr std::size_t most = 64;
  at::Tensor all = tensor.view({-1});
  const std::size_t count = std::min(most, numbers.size());
  if (count == 0 || all.numel() < 2 * static_cast<std::int64_t>(count)) return;
  const at::Tensor at = random_places(static_cast<std::int64_t>(count), all.numel(), all);
  const std::vector<double> first(numbers.begin(),
                                  numbers.begin() + static_cast<std::ptrdiff_t>(count));
  all.index_copy_(0, at, at::tensor(first, at::kDouble).to(all.options()));
}

// No row has its largest element in this column.
void lower_column(const at::Tensor& table, double reach, Rng& rng) {
  constexpr std::int64_t few = 4;
  if (table.size(0) < few || table.size(1) < few) return;
  const auto others = static_cast<std::uint64_t>(table.size(1) - 1);  // the last one is named
  const auto column = static_cast<std::int64_t>(rng.below(others));
  table.select(1, column).sub_(3 * reach);
}

void make_uneven(at::Tensor& tensor, const InputChange& change) {
  constexpr double little = 4, level = 0.5, beyond = 1.5;
  const bool moves = change.reach > 0;
  Rng rng(change.seed, "uneven", 0);
  const std::int64_t length = tensor.dim() > 0 ? tensor.size(-1) : 1;
  const at::Tensor table = tensor.view({-1, length});
  Rows rows(table, rng);
  sort_rows(rows.next(), false);
  sort_rows(rows.next(), true);
  if (change.may_tie) level_rows(rows.next_kept(), moves);
  if (!moves) return put_numbers(tensor, change.numbers);
  at::Tensor zeros, ones;
  if (change.may_tie) {
    zeros = rows.next_kept();
    ones = rows.next_kept();
  }
  // Its largest elements lie as far as a named one.
  const at::Tensor apart = rows.next_kept();
  NamedElements named(tensor, change, &rows);
  const double shift = std::min(little, change.reach);
  rows.next().add_(shift);
  rows.next().sub_(shift);
  move_one_in_each(rows.next(), change.reach);
  move_one_in_each(rows.next(), -change.reach);
  move_apart(apart, change.reach, rng);
  at::Tensor all = tensor.view({-1});
  move_some_elements(all, change.reach);
  if (change.may_tie) {
    zeros.zero_();
    if (table.size(0) > 1) ones.fill_(level);
    level_slices(tensor, level, rng);
  }
  named.move();
  for (const double number : change.numbers) {
    if (table.size(0) > 1) table.select(0, random_row(table, rng)).add_(beyond * number);
    // A window of a pooling, for example, takes in parts of many rows.
    if (tensor.dim() < 3 || tensor.size(-2) < 2) continue;
    const at::Tensor slices = tensor.view({-1, tensor.size(-2), length});
    if (slices.size(0) > 2) slices.select(0, random_row(slices, rng)).add_(beyond * number);
  }
  if (!change.may_tie) lower_column(table, change.reach, rng);
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

// Each row gets the two largest numbers at places of their own.
void put_two_largest(at::Tensor& tensor, const std::vector<double>& numbers) {
  if (tensor.dim() == 0 || tensor.size(-1) < 2 || numbers.empty()) return;
  const std::int64_t length = tensor.size(-1);
  at::Tensor rows = tensor.view({-1, length});
  const auto largest = static_cast<std::int64_t>(*std::ranges::max_element(numbers));
  const at::Tensor first = random_places(rows.size(0), length, rows).unsqueeze(1);
  const at::Tensor further = random_places(rows.size(0), length - 1, rows).unsqueeze(1);
  rows.scatter_(1, first, largest);
  rows.scatter_(1, (first + 1 + further).remainder(length), largest - 1);
}

// Each element becomes the largest of the numbers, or one of the seven before it.
void put_large_neighbours(at::Tensor& tensor, const std::vector<double>& numbers) {
  constexpr std::int64_t count = 8;
  if (numbers.empty()) return;
  const auto largest = static_cast<std::int64_t>(*std::ranges::max_element(numbers));
  tensor.copy_(
      at::randint(count, tensor.sizes(), tensor.options().dtype(at::kLong)).neg_().add_(largest));
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

// The values that stand for false and true.
struct TruthValues {
  double no = 0, yes = 1;
};

// Fills a row, but for the element at a place, or wholly if there is no such place.
void put_truth(at::Tensor row, TruthValues values, bool truth, std::optional<std::int64_t> other) {
  row.fill_(truth ? values.yes : values.no);
  if (other) row.select(0, *other).fill_(truth ? values.no : values.yes);
}

void put_truths(at::Tensor& tensor, const InputChange& change) {
  constexpr std::int64_t kinds = 6, most_rows = 512;  // four kinds of rows, and two that stay
  Rng rng(change.seed, "truths", 0);
  const bool is_given = change.numbers.size() == 2;
  const TruthValues values =
      is_given ? TruthValues{change.numbers[0], change.numbers[1]} : TruthValues{};
  const auto place_in = [&](std::int64_t size) {
    const auto any = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(size)));
    return change.reach > 0 ? size - 1 : any;
  };
  if (change.places.empty() || tensor.dim() == 0)
    return put_truth(tensor.view({-1}), values, change.may_tie, place_in(tensor.numel()));
  const std::int64_t dim = at::maybe_wrap_dim(change.places[0], tensor.dim());
  const at::Tensor turned = tensor.movedim(dim, -1).contiguous();
  const at::Tensor rows = turned.view({-1, tensor.size(dim)});
  for (std::int64_t row = 0; row < std::min(rows.size(0), most_rows); ++row)
    if (const auto kind = row % kinds; kind < 4)
      put_truth(rows.select(0, row), values, kind % 2 == 0,
                kind < 2 ? std::nullopt : std::optional(place_in(tensor.size(dim))));
  tensor.movedim(dim, -1).copy_(turned);
}

// Each number changes by a factor of its own, or, in a sorted list, the steps come in the opposite
// order.
void change_listed(at::Tensor& tensor) {
  at::Tensor all = tensor.view({-1});
  const at::Tensor steps = all.diff();
  if (steps.ge(0).all().item<bool>()) {
    const at::Tensor turned = at::cat({all.narrow(0, 0, 1), steps.flip(0)}).cumsum(0);
    all.narrow(0, 1, all.numel() - 1).copy_(turned.narrow(0, 1, all.numel() - 1));
  } else {
    all.mul_(chance_like(all).mul_(0.6).add_(0.7).to(all.scalar_type()));
  }
}

void make_ties(at::Tensor& tensor, const InputChange& change) {
  constexpr std::size_t most = 8;
  tensor.mul_(2 * change.reach).round_().div_(2 * change.reach);
  const std::size_t count = std::min(most, change.numbers.size());
  for (std::size_t k = 0; k < count; ++k)
    if (tensors::is_finite_in(tensor.scalar_type(), change.numbers[k]))
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
      if (change.reach > 0) leave_one_out(tensor, change.numbers);
      put_numbers(tensor, change.numbers);
      tensor.copy_(std::get<0>(tensor.reshape({-1}).sort()).view(tensor.sizes()));
      return;
    case Pattern::skewed:
      skew(tensor);
      return put_numbers(tensor, change.numbers);
    case Pattern::near:
      return put_two_largest(tensor, change.numbers);
    case Pattern::near_all:
      return put_large_neighbours(tensor, change.numbers);
    case Pattern::ties:
      return make_ties(tensor, change);
    case Pattern::close:
      return put_neighbours(tensor);
    case Pattern::truths:
      return put_truths(tensor, change);
    case Pattern::ends:
      return NamedElements(tensor, change).move();
    case Pattern::specials:
      return put_specials(tensor);
    case Pattern::whole:
      return change_whole_numbers(tensor, change);
    case Pattern::listed:
      return change_listed(tensor);
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
