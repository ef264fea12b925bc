// Questions about ATen operators by full name: which ones the referee replays at all, which of
// those
// a policy lets a candidate's forward use, and which draw random numbers. The answers come from
// operator_table.h; docs/judging.md documents them for users. Needs no LibTorch.
#pragma once

#include <string_view>

#include "gym/plan/operators/operator_table.h"

namespace tritonsmith::gym::plan::operators {

// "aten::add.Tensor" -> "add"; empty for another namespace.
std::string_view aten_base_name(std::string_view full_name);

// By the table, of a full name.
inline bool is(std::string_view full_name, Trait trait) {
  return has_trait(aten_base_name(full_name), trait);
}

// Operators that stay inside the memory of their arguments whatever those are. Refused are those
// that read files, reinterpret memory, skip bounds checks on request, or belong to layouts that
// plans do not have.
bool is_replayable(std::string_view full_name);

// Allocates, views, reshapes, copies, joins, pads, casts or makes contiguous: all that policy
// `strict` leaves to torch.
bool only_arranges(std::string_view full_name);

// Convolution, matrix product, attention, recurrent cells: what policy `fused` leaves to the
// vendor's libraries.
bool is_vendor_grade(std::string_view full_name);

// Convolution and recurrent cells, which PyTorch on a GPU leaves to cuDNN, in TF32 unless told
// otherwise.
bool runs_in_cudnn(std::string_view full_name);

// Allocates a tensor and gives it no values.
bool leaves_unwritten(std::string_view full_name);

// Only makes a tensor of fixed content, from no other tensor.
bool only_allocates(std::string_view full_name);

// Draws from a random generator.
bool is_random_operator(std::string_view full_name);

// By its name, which ends in an underscore, as do "__and__" and its like.
bool writes_in_place(std::string_view full_name);

}  // namespace tritonsmith::gym::plan::operators
