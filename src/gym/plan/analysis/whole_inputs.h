// Says what a task does with inputs of whole numbers that no generator drew, such as positions,
// lengths and offsets. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// False for truth values.
bool holds_whole_numbers(DType dtype);
// True for float16, bfloat16, float32 and float64.
bool holds_real_numbers(DType dtype);

// Says whether an operator of forward is given this input, or another tensor of its memory.
bool reads_in_forward(const Plan& task, int input);

// Says whether forward only computes with the elements of this input, element by element, until they
// are floating-point numbers or decide between such numbers. Then any small number may stand there:
// none of them names an index, a size or a bit.
bool is_only_computed_with(const Plan& task, int input);

// Returns the least number of indices among which the elements of this input choose, if forward
// only looks up, adds or compares at these indices, as an embedding does.
std::optional<std::int64_t> indices_named_by(const Plan& task, int input);

// The whole numbers among the task's inputs that Python holds.
std::vector<std::int64_t> numbers_of_python(const Plan& task);

}  // namespace tritonsmith::gym::plan::analysis
