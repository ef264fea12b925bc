#include "gym/trial/perturb/number_changes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tritonsmith::gym::trial {

using device::InputChange;
using plan::analysis::ForwardFacts;
using plan::analysis::InputDraw;
using plan::analysis::MaximumScale;

namespace {

namespace pattern = device::pattern;

// Float32 holds not all whole numbers beyond the first, and no two neighbours beyond the second.
constexpr double kAllInFloats = 1 << 24, kBeyondFloats = 1 << 25;

// Returns the largest number of the draw whose neighbour below becomes the same in float32.
std::int64_t largest_of_two(double high) {
  const auto largest = static_cast<std::int64_t>(high);
  return high > kAllInFloats ? largest - (largest - 1) % 4 : largest;
}

// Numbers that all draws of whole numbers can hold, if there are several such draws. They part the
// common range into as many `parts`.
std::vector<double> common_numbers(std::span<const InputDraw> draws, int parts) {
  double low = std::numeric_limits<double>::lowest(), high = std::numeric_limits<double>::max();
  int count = 0;
  for (const InputDraw& draw : draws) {
    if (draw.kind != plan::analysis::DrawKind::whole) continue;
    low = std::max(low, draw.low);
    high = std::min(high, draw.high);
    ++count;
  }
  std::vector<double> numbers;
  for (int part = 1; part < parts && count > 1; ++part)
    numbers.push_back(std::floor(low + (high - low) * part / parts));
  return numbers;
}

// The whole numbers that a changed draw must hold: its least, its largest, those that a loss ignores, and
// between the two those with which forward compares, those of the candidate's code, and some that other
// draws hold, too.
std::vector<double> met_by(const InputDraw& draw, const OfWhole& known) {
  if (draw.high <= draw.low) return {};
  std::vector<double> numbers = {draw.low, draw.high};
  const auto add = [&](double number) {
    if (draw.low < number && number < draw.high && std::floor(number) == number &&
        std::ranges::find(numbers, number) == numbers.end())
      numbers.push_back(number);
  };
  numbers.insert(numbers.end(), known.compared.ignored.begin(), known.compared.ignored.end());
  for (const double number : known.compared.met) add(number);
  for (const double bound : known.facts.bounds) add(bound);
  constexpr int few = 4, many = 25;
  for (const double number : common_numbers(known.draws, known.facts.looks_up_numbers ? many : few))
    add(number);
  if (known.candidate == nullptr) return numbers;
  for (const std::int64_t number : known.candidate->whole) add(static_cast<double>(number));
  return numbers;
}

// A short input has no room for all of them in the two trials that change whole numbers. So each other
// trial gives it the next few, and nothing else.
device::Pattern next_numbers(Perturbation kind, const InputDraw& draw, const OfWhole& known) {
  constexpr std::int64_t few = 8;
  if (kind == Perturbation::plain || known.elements > few || known.facts.overwrites_at_indices ||
      known.facts.gives_indices)
    return {};
  const std::vector<double> numbers = met_by(draw, known);
  if (numbers.empty()) return {};
  const auto count = static_cast<std::size_t>(known.elements);
  std::vector<double> next;
  for (std::size_t k = 0; k < count; ++k)
    next.push_back(numbers[(static_cast<std::size_t>(kind) * count + k) % numbers.size()]);
  return pattern::Numbers{.numbers = std::move(next), .fills_small = true};
}

// One element of many that a loss ignores shows in no mean. So the first few of these numbers become
// frequent.
std::vector<double> frequent_of(const InputDraw& draw, const OfWhole& known) {
  constexpr std::size_t most = 8;
  std::vector<double> numbers = known.compared.ignored;
  for (const double number : known.compared.met)
    if (draw.low <= number && number <= draw.high) numbers.push_back(number);
  numbers.resize(std::min(most, numbers.size()));
  return numbers;
}

device::Pattern pattern_of_whole(Perturbation kind, const InputDraw& draw, const OfWhole& known) {
  if (kind == Perturbation::sparse)
    return pattern::Sorted{.numbers = met_by(draw, known),
                           .frequent = frequent_of(draw, known),
                           .leaves_one_out = !known.facts.overwrites_at_indices,
                           .fills_small = known.facts.looks_up_numbers};
  if (kind != Perturbation::scaled) return next_numbers(kind, draw, known);
  if (draw.high > kAllInFloats || draw.high - draw.low > kBeyondFloats) {
    if (known.facts.gives_indices) return pattern::Near{largest_of_two(draw.high), known.positions};
    if (known.facts.compares_inputs) return pattern::NearAll{static_cast<std::int64_t>(draw.high)};
  }
  if (known.facts.overwrites_at_indices) return {};
  if (known.facts.gives_indices) return pattern::Extremes{met_by(draw, known), known.positions};
  return pattern::Skewed{met_by(draw, known), known.positions};
}

}  // namespace

double any_factor(Rng& rng) { return 0.5 + 2.5 * rng.uniform(); }

double whole_factor(Rng& rng) { return static_cast<double>(2 + rng.below(2)); }

InputChange signed_factor(Rng& rng) {
  const double factor = any_factor(rng);
  return {.factor = rng.below(2) == 0 ? -factor : factor};
}

InputChange sparse(Rng& rng) {
  const double kept = 0.05 + 0.3 * rng.uniform();
  return {.factor = 2, .kept = kept, .seed = rng.next_u64()};
}

InputChange spiked(std::int64_t elements, Rng& rng) {
  constexpr double one_in = 8192, least = 16, times = 1024;
  const auto count = static_cast<double>(std::max<std::int64_t>(elements, 1));
  const double share = std::max(1 / one_in, least / count);
  return {.kept = 1 - std::min(share, 0.25), .rest = times, .seed = rng.next_u64()};
}

bool goes_down(Perturbation kind, int nth) {
  if (kind == Perturbation::below) return true;
  return kind != Perturbation::above && (kind == Perturbation::parted) == (nth % 2 == 0);
}

bool alternates(Perturbation kind) {
  return kind == Perturbation::below || kind == Perturbation::above ||
         kind == Perturbation::parted || kind == Perturbation::crossed;
}

InputChange of_whole(Perturbation kind, const InputDraw& draw, const OfWhole& known, Rng& rng) {
  return {.seed = rng.next_u64(), .pattern = pattern_of_whole(kind, draw, known)};
}

InputChange tied_input(const ForwardFacts& facts, int input, Rng& rng) {
  for (const MaximumScale& scale : facts.maximum_scales)
    if (scale.input == input)
      return {.seed = rng.next_u64(),
              .pattern = pattern::ScaledTies{
                  .largest = scale.number, .dim = scale.dim, .shape = scale.shape}};
  if (!facts.jumps_at_halves || facts.gives_unordered_indices) return {};
  return {
      .seed = rng.next_u64(),
      .pattern = pattern::Ties{.scale = facts.scale_of_jumps, .numbers = facts.meeting_numbers}};
}

InputChange specials(const ForwardFacts& facts, int input, std::vector<std::int64_t> positions,
                     Rng& rng) {
  std::vector<double> numbers = facts.specials;
  if (facts.zero_signs.contains(input)) numbers.insert(numbers.end(), {-0.0, 0.0});
  if (numbers.empty()) return {};
  return {.seed = rng.next_u64(),
          .pattern =
              pattern::Specials{.numbers = std::move(numbers), .positions = std::move(positions)}};
}

void pair_specials(std::span<InputChange> changes, Rng& rng) {
  const std::uint64_t common = rng.next_u64();
  std::vector<pattern::Specials*> all;
  for (InputChange& change : changes)
    if (auto* one = std::get_if<pattern::Specials>(&change.pattern)) all.push_back(one);
  for (std::size_t k = 0; k < all.size() && all.size() > 1; ++k) {
    all[k]->common = common;
    all[k]->nth = k;
  }
}

InputChange tied_draw(const ForwardFacts& facts, const InputDraw& draw) {
  constexpr double parts = 16, whole_parts = 8, of_normal = 1.0 / 8;
  if (!facts.jumps_as_given || facts.gives_unordered_indices) return {};
  const double range = draw.high - draw.low;
  switch (draw.kind) {
    case plan::analysis::DrawKind::normal:
      return {.pattern = pattern::Grid{.from = 0, .step = of_normal}};
    case plan::analysis::DrawKind::uniform:
      return {.pattern = pattern::Grid{.from = draw.low, .step = range / parts}};
    case plan::analysis::DrawKind::whole:
      if (!facts.gives_indices || range <= 0) return {};
      return {.pattern = pattern::Grid{.from = draw.low,
                                       .step = std::max(1.0, std::floor(range / whole_parts))}};
    case plan::analysis::DrawKind::order:
    case plan::analysis::DrawKind::other:
      return {};
  }
  return {};
}

InputChange of_uniform(Perturbation kind, const InputDraw& draw, int nth, Rng& rng) {
  constexpr double part = 0.25;
  const bool has_zero = draw.low <= 0 && draw.high >= 0;
  const auto towards = [](double end, double factor) {
    return InputChange{.factor = factor, .shift = (1 - factor) * end};
  };
  if (alternates(kind)) return towards(goes_down(kind, nth) ? draw.low : draw.high, part);
  switch (kind) {
    case Perturbation::scaled:
      return towards(has_zero ? 0 : draw.low, 0.3 + 0.7 * rng.uniform());
    case Perturbation::sparse:
      if (!has_zero || !draw.is_affine) return towards(draw.high, 0.3 + 0.7 * rng.uniform());
      return {.kept = 0.05 + 0.3 * rng.uniform(), .seed = rng.next_u64()};
    case Perturbation::small:
      return has_zero ? InputChange{.factor = 0.05} : InputChange{};
    case Perturbation::uneven:
    case Perturbation::scattered:
      return {.seed = rng.next_u64(),
              .pattern = pattern::Uneven{.may_tie = kind == Perturbation::uneven}};
    case Perturbation::ragged:
      if (draw.low != 0) return {};
      return {.seed = rng.next_u64(), .pattern = pattern::Ragged{}};
    case Perturbation::negated:
      return {.factor = -1, .shift = draw.low + draw.high};
    default:
      return {};
  }
}

}  // namespace tritonsmith::gym::trial
