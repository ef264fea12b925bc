// Says what an input that was drawn holds, as far as a change of it depends on that.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace tritonsmith::gym::trial {

bool holds_one_value(const at::Tensor& tensor);

// True for zeros and ones, and for the zeros and infinities that mask scores.
bool is_mask(const at::Tensor& tensor);

// Says whether a mask's values would hide something: zeros in a product, infinities in a sum.
bool hides(const at::Tensor& tensor);

bool holds_whole_numbers(const at::Tensor& tensor);

// True if floating-point elements are whole numbers, such as positions.
bool holds_whole_values(const at::Tensor& tensor);

// True if one negative number stands among several others, such as the -1 of a page that is not there.
// Two numbers in all may be signs, and in a steadily rising list it is a number like the others.
bool has_marks(const at::Tensor& numbers);

// True if a trial may change the tensor's elements at all.
bool is_changeable(const at::Tensor& tensor);

// Some elements of the one tensor that are no less than the other's least, and no more than its
// largest. Both hold numbers that can be ordered.
std::vector<double> elements_between_bounds(const at::Tensor& elements, const at::Tensor& bounds);

}  // namespace tritonsmith::gym::trial
