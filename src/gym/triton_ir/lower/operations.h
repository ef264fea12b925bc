// Declares the functions that lower operations, by family. Each family has a source of its name.
#pragma once

#include "gym/triton_ir/execute/elementwise.h"
#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/lower/lowering.h"

namespace tritonsmith::gym::triton_ir {

// lower_kernel.cc: any operation, by the tables.
Status lower(Lowering& lowering, const Operation& operation);

// lower_elementwise.cc
Status lower_elementwise(Lowering& lowering, const Operation& operation,
                         const ElementwiseOperation& row);
Status lower_compare(Lowering& lowering, const Operation& operation);
Status lower_select(Lowering& lowering, const Operation& operation);
Status lower_convert(Lowering& lowering, const Operation& operation);
Status lower_fp_to_fp(Lowering& lowering, const Operation& operation);
Status lower_bitcast(Lowering& lowering, const Operation& operation);
Status lower_clamp(Lowering& lowering, const Operation& operation);
Status lower_libdevice(Lowering& lowering, const Operation& operation);
Status lower_wide_multiply(Lowering& lowering, const Operation& operation);
Status lower_power(Lowering& lowering, const Operation& operation);

// lower_assembly.cc
Status lower_assembly(Lowering& lowering, const Operation& operation);

// lower_dot_scaled.cc
Status lower_dot_scaled(Lowering& lowering, const Operation& operation);

// lower_constant.cc
Value constant(Lowering& lowering, const ValueType& type, std::int64_t bits);
Status lower_constant(Lowering& lowering, const Operation& operation);
Status lower_range(Lowering& lowering, const Operation& operation);
Status lower_poison(Lowering& lowering, const Operation& operation);

// lower_shape.cc
Status lower_splat(Lowering& lowering, const Operation& operation);
Status lower_unsplat(Lowering& lowering, const Operation& operation);
Status lower_view(Lowering& lowering, const Operation& operation);
Status lower_broadcast(Lowering& lowering, const Operation& operation);
Status lower_transpose(Lowering& lowering, const Operation& operation);
Status lower_join(Lowering& lowering, const Operation& operation);
Status lower_split(Lowering& lowering, const Operation& operation);
Status lower_cat(Lowering& lowering, const Operation& operation);
Status lower_gather(Lowering& lowering, const Operation& operation);
Status lower_histogram(Lowering& lowering, const Operation& operation);

// lower_hints.cc
// Checks an access whose first operand holds its pointers, before it. `mask` is the index of the
// operand that may hold its mask.
void check_hinted_access(Lowering& lowering, const Operation& operation,
                         const std::vector<Value>& inputs, std::size_t mask);
// Spoils what a load read by a false hint, after it: the other elements of such an access depend on
// the GPU, so a kernel may not use them.
void spoil_hinted_load(Lowering& lowering, const Operation& operation,
                       const std::vector<Value>& inputs, const Value& result);
// Gives elements of the operation's result that count as equal the first one's value.
void repeat_hinted_elements(Lowering& lowering, const Operation& operation);

// lower_memory.cc
// Fills a descriptor that is an argument of the kernel.
Status fill_descriptor(Lowering& lowering, const Function& kernel, std::size_t index);
Status lower_load(Lowering& lowering, const Operation& operation);
Status lower_store(Lowering& lowering, const Operation& operation);
Status lower_add_pointer(Lowering& lowering, const Operation& operation);
Status lower_atomic(Lowering& lowering, const Operation& operation);
Status lower_compare_and_swap(Lowering& lowering, const Operation& operation);
Status lower_make_descriptor(Lowering& lowering, const Operation& operation);
Status lower_descriptor_load(Lowering& lowering, const Operation& operation);
Status lower_descriptor_store(Lowering& lowering, const Operation& operation);
Status lower_descriptor_reduce(Lowering& lowering, const Operation& operation);

// lower_control.cc
Status lower_function(Lowering& lowering, const Function& function,
                      const std::vector<Value>& results);
// Lowers a region of one block and returns its last operation, which must be `terminator`. An empty
// region needs no terminator, and then the result is null.
Result<const Operation*> lower_body(Lowering& lowering, const Operation& parent,
                                    const Region& region, std::string_view terminator);
Status lower_for(Lowering& lowering, const Operation& operation);
Status lower_if(Lowering& lowering, const Operation& operation);
Status lower_while(Lowering& lowering, const Operation& operation);
Status lower_branch(Lowering& lowering, const Operation& operation);
Status lower_return(Lowering& lowering, const Operation& operation);
Status lower_program_id(Lowering& lowering, const Operation& operation);
Status lower_assert(Lowering& lowering, const Operation& operation);
Status lower_nothing(Lowering& lowering, const Operation& operation);
Status lower_barrier(Lowering& lowering, const Operation& operation);

// lower_call.cc
Status lower_call(Lowering& lowering, const Operation& operation);

// lower_combine.cc
Status lower_reduce(Lowering& lowering, const Operation& operation);
Status lower_scan(Lowering& lowering, const Operation& operation);
Status lower_map(Lowering& lowering, const Operation& operation);
Status lower_dot(Lowering& lowering, const Operation& operation);

}  // namespace tritonsmith::gym::triton_ir
