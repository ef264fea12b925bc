// The traits of each ATen operator, in one table by base name. The replay, the analyses, the
// trials and the rules for candidates use it. Each operator stands in one row with all its traits.
// Traits with similar names differ on purpose; the comments say how. It needs no LibTorch. Any
// thread may call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace tritonsmith::gym::plan::operators {

enum class Trait : std::uint8_t {
  // Permission to run.
  for_candidates,  // checks all arguments that a hostile plan may give it
  into_given,      // a candidate may have it write into tensors that it gives (`out=`)
  refused,         // no plan replays it
  internal,        // replays although its name begins with an underscore

  // Policies ask these.
  allocates,  // makes a tensor of fixed content, from no other tensor
  unwritten,  // makes a tensor of fixed size from no other tensor, and gives it no values
  arranges,   // views, copies, casts, joins, or asks for a size
  vendor,     // a vendor's library other than cuDNN computes it
  cudnn,      // cuDNN computes it on a GPU

  // Randomness.
  random,           // draws from a generator at all, as the dispatcher's tag says
  generator,        // draws independent floating numbers of a continuous distribution
  fills_by_chance,  // what it writes counts as drawn: whole numbers and permutations too
  leaves_drawn,     // memory that it writes is no less drawn: generators, and what gives no values
  keeps_as_drawn,   // its result holds elements that were drawn, in any order and as often
  scales,           // drawn numbers stay random when it combines them with one number
  combines_draws,   // the same with other drawn numbers; not in place
  negates,
  dropout,    // has "dropout" in its name
  recurrent,  // a recurrent cell over a sequence, with dropout between its layers

  // How values follow from values: the roofline's least work.
  elementwise,     // each result depends on the elements at its place alone
  linear,          // elementwise, and a product may be taken before it: (x w + b) v = x (w v) + b v
  rearranges,      // the same elements elsewhere: fewer operators than `arranges`
  matrix_product,  // each result is a sum of products
  reduces,         // each result depends on every element; not a product, which vanishes early
  keeps_statistic,  // the result is zero only if the statistic is zero
  combines,         // with a statistic, the differences or ratios of the elements remain
  normalises,       // each result depends on all elements with which it is normalised

  // Perturbations ask these.
  orders,              // its results are places among ordered values
  softmax,             // softmax in any form
  scores,              // a product that may give a softmax its scores: `matrix_product` and more
  attention,           // scaled_dot_product_attention in any form
  running_statistics,  // a norm whose 4th and 5th argument are statistics of its training
  bounds,              // compares elements with numbers among its arguments, or clamps them
  steps,               // its result jumps at some values: rounding and comparisons
  specials,            // treats NaN or infinity in a way of its own
  overwrites_places,   // writes at places that a tensor names, the last one winning
  checks_values,       // refuses some floating values; its CUDA kernel then ends the context
  checks_places,       // refuses places out of range; its CUDA kernel then ends the context

  // Checks of memory ask these.
  overwrites,   // replaces all that its first argument holds
  lists_views,  // gives a list of views
};

class Traits {
 public:
  constexpr Traits() = default;
  constexpr Traits(std::initializer_list<Trait> traits) {
    for (const Trait trait : traits) bits_ |= bit(trait);
  }
  constexpr bool has(Trait trait) const { return (bits_ & bit(trait)) != 0; }

 private:
  static constexpr std::uint64_t bit(Trait trait) {
    return std::uint64_t{1} << static_cast<unsigned>(trait);
  }
  std::uint64_t bits_ = 0;
};

// Takes the base name, such as "add" for "aten::add.Tensor". An operator that the table
// lacks has no trait.
Traits traits_of(std::string_view base_name);
inline bool has_trait(std::string_view base_name, Trait trait) {
  return traits_of(base_name).has(trait);
}

struct OperatorRow {
  Traits traits;
  std::string_view names;  // separated by single spaces
};
std::span<const OperatorRow> operator_rows();

// Returns the only overload that a candidate may use, because other overloads take sizes or counts
// from tensors unchecked. Returns an empty string if a candidate may use all overloads.
std::string_view only_overload(std::string_view base_name);

// The argument of an operator that says whether it is in training mode.
struct TrainingFlag {
  std::string_view name;
  std::size_t position = 0;
  std::string_view keyword;
  bool in_eval_mode = false;
};
// Returns null if the operator has no such flag.
const TrainingFlag* training_flag(std::string_view base_name);

}  // namespace tritonsmith::gym::plan::operators
