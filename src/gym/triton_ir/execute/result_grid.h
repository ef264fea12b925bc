// Rounds results to a grid that is coarser than their type (language::ResultRounding). evaluate() does so
// after each instruction with floating results, if the launch asks for it. The functions are pure.
#pragma once

#include <cstddef>

#include "gym/language/result_rounding.h"

namespace tritonsmith::gym::triton_ir {

// Replaces each number by the point of its cell. A cell holds `by.width` neighbouring numbers, and the
// round decides where cells begin and which number of a cell is its point. Equal numbers stay equal, and
// greater ones do not become less. A second call changes nothing, and -x becomes minus what x becomes.
// Numbers of at most 12 significant bits, whole numbers below 2^20, the smallest numbers, NaN and infinity
// stay as they are: they are exact on purpose, as masks, indices and halves are.
void round_to_grid(const language::ResultRounding& by, float* values, std::size_t count);
void round_to_grid(const language::ResultRounding& by, double* values, std::size_t count);

}  // namespace tritonsmith::gym::triton_ir
