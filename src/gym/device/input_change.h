// InputChange: the change that a trial makes to a drawn input. Its pattern is one of the structs
// below, each with the data that it needs. trial/perturb/patterns.h makes the patterns' changes.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace tritonsmith::gym::device {
namespace pattern {

// Mixes rows of many kinds: zeros, one value, all moved up or down by a little, sorted up and down,
// and ordinary ones. Some slices of the first two dimensions hold one value. Single elements move up
// or down by up to twice `reach`, some of them at the last index of each dimension and at
// `positions`. Without a reach only rows of the tensor's own values are made.
struct Uneven {
  double reach = 0;
  bool may_tie = true;                       // rows of equal values may be made
  std::vector<double> shifts = {};           // some rows move a little beyond each
  std::vector<std::int64_t> positions = {};  // indices that the candidate's code names
};
// Gives elements very different sizes, up to `largest` times as large, and blocks of neighbours too.
// So a part of a row says little about the rest.
struct Ragged {
  double largest = 1;
};
// Multiplies each element by a factor of its own between 0.5 and 3. Zeros get a number in that range.
struct Noise {};
// Exchanges two values of a mask at one element in eight.
struct Flips {};
// Puts `numbers` in place of some elements, and all elements in ascending order. Each of those that are
// `frequent` takes the place of about one element in sixteen.
struct Sorted {
  std::vector<double> numbers = {};
  std::vector<double> frequent = {};
  bool leaves_one_out = false;  // one of the drawn numbers no longer occurs
  bool fills_small = false;     // a tensor of few elements holds `numbers` alone
};
// Gives most elements one and the same value, which was drawn. It then does as Extremes, even without
// room.
struct Skewed {
  std::vector<double> numbers = {};
  std::vector<std::int64_t> positions = {};
};
// Puts `numbers` in place of some elements, and the first two, the least and the largest, alone
// into rows, at the last index and in the middle of each dimension, and at `positions` and beside
// them. Without room between the two it does not do the latter.
struct Extremes {
  std::vector<double> numbers = {};
  std::vector<std::int64_t> positions = {};
};
// Gives each row the whole numbers `largest` and `largest` - 1, at positions of their own. In some
// rows the largest stands at the last index, in the middle, or at `positions` or beside them.
struct Near {
  std::int64_t largest = 0;
  std::vector<std::int64_t> positions = {};
};
// Makes each element `largest`, or one of the seven whole numbers before it.
struct NearAll {
  std::int64_t largest = 0;
};
// Rounds elements to halves of 1 / `scale`, and puts `numbers` in place of some.
struct Ties {
  double scale = 1;
  std::vector<double> numbers = {};
};
// Puts `numbers` in place of some elements. If it `fills_small`, a tensor with no more elements
// than numbers holds some of them alone.
struct Numbers {
  std::vector<double> numbers = {};
  bool fills_small = false;
};
// Rounds elements down to `from` and multiples of `step` from there.
struct Grid {
  double from = 0, step = 1;
};
// Rounds elements to halves up to `largest`, and puts that number, or its opposite, at one index of the
// dimension, in this shape.
struct ScaledTies {
  double largest = 1;
  std::int64_t dim = -1;
  std::vector<std::int64_t> shape = {};
};
// Gives each element another value from 0.5 on, each the next that the type holds.
struct Close {};
// Makes rows of two values, of which one element decides whether any or all hold.
struct Truths {
  std::int64_t variant = 0;                    // the cycle of values and positions begins with it
  std::optional<std::int64_t> dimension = {};  // along which rows run; none: all elements are a row
  std::vector<double> values = {};             // fewer than two: false and true
  bool is_alike = false;  // all rows hold the first value, so that another input decides
};
// Puts large elements, of about `reach`, at the last index and in the middle of each dimension, and at
// `positions`.
struct Ends {
  double reach = 0;
  std::vector<std::int64_t> positions = {};
  bool middle_first = false;  // the middle takes the first of the rows, of which there may be few
};
// Puts `numbers` in place of a few elements, and one at the last index and in the middle of each
// dimension, and at `positions` and beside them. Tensors with the same seed `common` hold each pair of
// the numbers at one index.
struct Specials {
  std::vector<double> numbers = {};
  std::vector<std::int64_t> positions = {};
  std::optional<std::uint64_t> common = {};
  std::size_t nth = 0;  // of those tensors
};
// Changes lengths, offsets or positions so that they may still be what they are. Zeros and ones grow
// by up to `growth`.
struct Whole {
  std::int64_t growth = 0;
  std::vector<std::int64_t> sizes =
      {};  // of other inputs: a sum or the last number may have to be one
  std::vector<std::int64_t> products = {};  // of neighbouring sizes
  // Numbers that Python or another list holds, such as a largest length.
  std::vector<std::int64_t> held = {};
  bool overwrites = false;  // forward writes at indices, so parts of different lengths may overlap
  bool beside_marks = false;    // another list has negative marks, to which no number may lead
  bool beside_offsets = false;  // another list rises too, as starts beside ends do
};
// Changes a list of numbers, which stays sorted if it was. Equal steps become unequal.
struct Listed {};
// Bends a table that no generator drew by one secret, strictly increasing function of the sizes, so
// that signs, zeros, order and equal elements stay.
struct Bent {};
// Multiplies rows by `factors` in turn, so that an epsilon counts in them.
struct SmallRows {
  std::vector<double> factors = {};
  bool rounds = false;                // first to bfloat16, so that a cast costs no digits
  std::optional<double> beside = {};  // the tensor stands beside another: factor of some other rows
};
// Multiplies rows by `factors` in turn, and leaves some as they are. Rows of one sign are among them, so
// that sums and means are large too. Some slices get one factor for all their rows.
struct LargeRows {
  std::vector<double> factors = {};  // the largest comes first
};

}  // namespace pattern

using Pattern = std::variant<std::monostate, pattern::Uneven, pattern::Ragged, pattern::Noise,
                             pattern::Flips, pattern::Sorted, pattern::Skewed, pattern::Extremes,
                             pattern::Near, pattern::NearAll, pattern::Ties, pattern::Numbers,
                             pattern::Grid, pattern::ScaledTies, pattern::Close, pattern::Truths,
                             pattern::Ends, pattern::Specials, pattern::Whole, pattern::Listed,
                             pattern::Bent, pattern::SmallRows, pattern::LargeRows>;

// The change has three steps. First the pattern changes single elements, rows and slices. Then a
// random share `kept` of the elements stays as it is, and the others are multiplied by `rest`. Then x
// becomes x * factor + shift.
struct InputChange {
  double factor = 1, shift = 0, kept = 1, rest = 0;
  std::uint64_t seed = 0;
  Pattern pattern = {};
  bool has_pattern() const { return !std::holds_alternative<std::monostate>(pattern); }
  bool changes() const { return factor != 1 || shift != 0 || kept < 1 || has_pattern(); }
};

}  // namespace tritonsmith::gym::device
