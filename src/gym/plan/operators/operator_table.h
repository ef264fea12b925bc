// Holds the traits of each ATen operator, in one table by base name. The replay, the analyses, the
// trials, inspection and the rules for candidates use it. The build writes some traits as Python,
// for the guest and the pairs. Each operator stands in one row with all its traits. Traits with
// similar names differ on purpose; the comments say how. operator_arguments.h says what an
// operator's arguments mean. It needs no LibTorch. Any thread may call it.
#pragma once

#include <array>
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
  leaves_drawn,  // after it writes, memory counts as drawn as before: generators, and what gives no values
  keeps_as_drawn,  // its result holds elements that were drawn, in any order and as often
  scales,          // drawn numbers stay random when it combines them with one number
  combines_draws,  // the same with other drawn numbers; not in place
  negates,
  draws_normal,  // the distribution, where the judge knows it
  draws_uniform,
  draws_whole,  // whole numbers
  draws_order,  // a permutation
  dropout,      // has "dropout" in its name
  recurrent,    // a recurrent cell over a sequence, with dropout between its layers

  // How values follow from values: the roofline's least work.
  zeros,           // gives zeros
  fills,           // gives one number everywhere, which is among its arguments
  elementwise,     // each result depends on the elements at its position alone
  linear,          // elementwise, and a product may be taken before it: (x w + b) v = x (w v) + b v
  rearranges,      // the same elements elsewhere: fewer operators than `arranges`
  matrix_product,  // each result is a sum of products
  reduces,         // each result depends on every element; not a product, which vanishes early
  keeps_statistic,  // the result is zero only if the statistic is zero
  combines,    // combined with a statistic of all elements, it keeps their differences or ratios
  normalises,  // each result depends on all elements with which it is normalised

  // How values follow from values, where an analysis asks more than the roofline.
  also_elementwise,  // logic and remainders: elementwise, though no work that the roofline counts
  rounds,            // each element, to a whole number or to what is left of one
  casts,
  asks_of_all,  // one element may decide the result: extremes, products, any and all
  any_or_all,
  gives_indices,  // its results, or one of them, are indices of elements. So does all of `orders`
  indices_along_dim,  // the same, if it gets a dimension
  indices_second,     // if it has two results, the second one are indices
  keeps_from_zero,    // a small second argument may keep its first argument away from zero
  scans,              // each result depends on the elements before it
  loss,               // compares its first two arguments row by row

  // Which kind of vendor-grade operator it is. All others but attention are products of matrices.
  convolves,
  vector_product,   // of a matrix with a vector, or of two vectors
  recurrent_cell,   // one step of a recurrent cell, or cuDNN's loop
  adds_to_product,  // its first argument is added, and the next two are multiplied

  // Perturbations ask these.
  orders,                 // its results are indices among ordered values
  softmax,                // softmax in any form
  scores,                 // a product that may give a softmax its scores: `matrix_product` and more
  attention,              // scaled_dot_product_attention in any form
  running_statistics,     // a norm whose 4th and 5th argument are statistics of its training
  bounds,                 // compares elements with numbers among its arguments, or clamps them
  steps,                  // its result jumps at some values: rounding and comparisons
  specials,               // its definition names NaN or infinity
  zero_signs,             // gives another value for a zero below 0 than for one above
  inverts,                // infinite, with the zero's sign, where its last argument is 0
  overwrites_at_indices,  // writes at indices that a tensor names, the last one winning
  checks_values,          // refuses some floating values; its CUDA kernel then ends the context
  checks_indices,         // refuses indices out of range; its CUDA kernel then ends the context

  // Checks of memory ask these.
  overwrites,   // replaces all that its first argument holds
  lists_views,  // gives a list of views

  // How values follow from values. A single part of the judge asks each of these.
  asks_for_zeros,  // treats an element otherwise if it is 0: analysis of jumps
  keeps_whole,     // of whole numbers it gives a whole number
  clamps,          // keeps elements within bounds that are its arguments: fewer than `bounds`
  keeps_numbers,   // each result is a number that it was given, or that number's negative
  arithmetic,      // adds, subtracts, multiplies or divides element by element
  takes_maximum,   // the largest element, in any form but `max_pool`

  // The catalogue of faults asks these.
  of_two,  // computes each element from one of each operand, either of which may be broadcast
  moves,   // gives the same elements in another order or under other dimensions
  counts,  // of whole numbers it may give a count
  joins,   // puts the tensors of a list side by side

  // The guest and the pairs ask these, from Python (write_operator_traits.cc).
  tables,          // makes positions from numbers alone
  filled,          // makes a tensor of one number from numbers alone: a mask, or memory for a sum
  keeps_elements,  // each element of its result, or of its first one, is one of its first argument
  compares,        // each element of two operands, by a function that Python's `operator` has, too
  unnamed,         // a kernel's name leaves it out

  // Inspection asks this one.
  called_to_compute,  // a call by this name, of torch or of a tensor, computes
};

class Traits {
 public:
  constexpr Traits() = default;
  constexpr Traits(std::initializer_list<Trait> traits) {
    for (const Trait trait : traits) words_[word(trait)] |= bit(trait);
  }
  constexpr bool has(Trait trait) const { return (words_[word(trait)] & bit(trait)) != 0; }

 private:
  static constexpr std::size_t kBits = 64;
  static constexpr std::size_t word(Trait trait) { return static_cast<std::size_t>(trait) / kBits; }
  static constexpr std::uint64_t bit(Trait trait) {
    return std::uint64_t{1} << (static_cast<std::size_t>(trait) % kBits);
  }
  std::array<std::uint64_t, 2> words_ = {};
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

}  // namespace tritonsmith::gym::plan::operators
