// Answers questions about ATen operators by full name: which ones the referee replays at all, which
// of them a policy lets a candidate's forward use, and which draw random numbers. The answers come
// from operator_table.h; docs/judging.md documents them for users. It needs no LibTorch.
#pragma once

#include <string_view>

#include "gym/plan/operators/operator_table.h"

namespace tritonsmith::gym::plan::operators {

// Returns "add" for "aten::add.Tensor", and an empty string for another namespace.
std::string_view aten_base_name(std::string_view full_name);

// Looks up the trait in the table by full name.
inline bool is(std::string_view full_name, Trait trait) {
  return has_trait(aten_base_name(full_name), trait);
}

// True for operators that stay inside the memory of their arguments, whatever the arguments are.
// Operators are refused if they read files, reinterpret memory, skip bounds checks on request, or
// belong to layouts that plans do not have.
bool is_replayable(std::string_view full_name);

// True for operators that allocate, view, reshape, copy, join, pad, cast or make contiguous. Policy
// `strict` leaves only these to PyTorch.
bool only_arranges(std::string_view full_name);

// True for convolution, matrix product, attention and recurrent cells. Policy `fused` leaves these
// to the vendor's libraries.
bool is_vendor_grade(std::string_view full_name);

// True for convolution and recurrent cells. On a GPU PyTorch leaves them to cuDNN, which uses
// TF32 by default.
bool runs_in_cudnn(std::string_view full_name);

// True for operators that allocate a tensor and give it no values.
bool leaves_unwritten(std::string_view full_name);

// True for operators that only make a tensor of fixed content, from no other tensor.
bool only_allocates(std::string_view full_name);

// True for operators that draw from a random generator.
bool is_random_operator(std::string_view full_name);

// True for operators that give other values in a wider floating type, however exact their operands
// are: views of a number's bits, and the next number.
bool depends_on_width(std::string_view full_name);

// True for operators whose name ends in one underscore, but not for "__and__" and the like.
bool writes_in_place(std::string_view full_name);
// Returns "add" for "aten::add_.Tensor", too, and "__and__" as it is.
std::string_view functional_name(std::string_view full_name);

}  // namespace tritonsmith::gym::plan::operators
