// Declares the handlers of all operations that are not elementwise: control flow, memory, atomics,
// shapes, reductions, scans, dots. Each comment says what the handler expects of its instruction.
// The lowering has checked types and sizes.
#pragma once

#include "gym/triton_ir/program/code.h"

namespace tritonsmith::gym::triton_ir {

// control_handlers.cc
void jump(Machine& machine, const Instruction& instruction);
// Jumps backwards, as a loop does that may wait for another program. After many iterations the
// program is suspended, so that other programs run.
void jump_back(Machine& machine, const Instruction& instruction);
void jump_if_false(Machine& machine, const Instruction& instruction);  // input 0: i1
// Returns the head of a `for` by its counter's type. It jumps unless input 0 < input 1.
Handler loop_head_handler(Element counter, bool is_unsigned);
void program_id(Machine& machine, const Instruction& instruction);    // immediate: axis
void num_programs(Machine& machine, const Instruction& instruction);  // immediate: axis
// input 0: i1s; immediate: index of the message
void check_assertion(Machine& machine, const Instruction& instruction);

// memory_handlers.cc. Pointers are i64 registers.
// A program's lanes see each other's stores from here on.
void barrier(Machine& machine, const Instruction& instruction);
Handler load_handler(Element element);   // inputs: pointers, mask or none, other or none
Handler store_handler(Element element);  // inputs: pointers, values, mask or none
// output = input 0 + input 1 * immediate. The handler depends on the offsets' type.
Handler add_pointer_handler(Element offset);

// atomic_handlers.cc. immediate: MemoryOrder. Output: the old values. `operation` is as the IR
// writes it, such as "fadd" or "umax".
// inputs: pointers, values, mask or none
Handler atomic_handler(std::string_view operation, Element element);
Handler compare_and_swap_handler(Element element);  // inputs: pointers, expected, desired

// shape_handlers.cc. The handlers depend on the bytes of an element in registers.
// table: rank, shape of the output, strides into the input for each dimension (0 if broadcast).
Handler strided_copy_handler(std::size_t bytes);
// The input has the shape [outer, 2, inner]. The output is the first or second of each pair.
// immediate: 2 * inner + 0 or 1.
Handler take_half_handler(std::size_t bytes);
// output[2k] = input 0, output[2k+1] = input 1. The count is that of one input.
Handler interleave_handler(std::size_t bytes);
// Writes input 0 to the output's elements from `immediate` on.
Handler copy_to_handler(std::size_t bytes);
// table: outer, axis of the source, inner, axis of the output; inputs: source, i32 or i64 indices.
Handler gather_handler(std::size_t bytes, Element index);
Handler histogram_handler(Element element);  // inputs: numbers, mask or none; immediate: bins

// descriptor_handlers.cc. A descriptor is an array of i64: base, shape, strides, padding (1: NaN).
// output[immediate] = the scalar of input 0, as i64.
Handler set_number_handler(Element element);
// table: rank, block shape, bytes of an element; inputs: descriptor, array of i64 offsets.
void descriptor_addresses(Machine& machine, const Instruction& instruction);
void descriptor_mask(Machine& machine, const Instruction& instruction);
// Gives the value for elements outside the tensor. inputs: descriptor. table: rank. The handler
// depends on the element's register type.
Handler descriptor_padding_handler(Element element);

// Checks that a GPU can use the descriptor. input 0: the descriptor; table: rank, bytes of an element.
void check_descriptor(Machine& machine, const Instruction& instruction);

// hint_handlers.cc. immediate: index of the message if the hints are false.
// Checks that elements which a GPU accesses at once lie side by side. inputs: pointers, mask or none.
// table: outer, dimension, inner, elements at once, bytes of an element, 1 if a load's numbers may be
// spoilt: then elements that do not are no failure, as long as a GPU can read beside the first one.
void check_vectors(Machine& machine, const Instruction& instruction);
// Replaces what such a load gave for all but the first of these elements: a GPU may read their own
// numbers or those beside the first, so a kernel may use neither. The same inputs and table. Null for
// other than floating elements.
Handler spoil_vectors_handler(Element element);
// Copies input 0 and gives each group of elements the value of its first. table: rank, shape, group
// of each dimension.
Handler repeat_equal_handler(std::size_t bytes);

// reduction_handlers.cc. These reductions and scans combine with one operation, such as
// "arith.addf". Null for any other. table: outer, axis, inner, Element of the result (for
// rounding), reverse.
Handler reduction_handler(std::string_view combine, Element element);
Handler scan_handler(std::string_view combine, Element element);
// For scans by doubling, along an axis. table: outer, axis, inner, distance, reverse. output =
// input 0 moved by the distance. Elements that nothing moves to keep their value.
Handler shift_handler(std::size_t bytes);
// Copies input 0 to the output's elements that nothing was moved to.
Handler keep_edge_handler(std::size_t bytes);

// assembly_handler.cc. table: index into Code::assembly, elements at a time, the first register of
// this result, bytes of its elements, number of operands, bytes of the elements of each.
void run_assembly(Machine& machine, const Instruction& instruction);
// Returns the registers for `pack` elements of so many bytes.
std::size_t assembly_registers(std::size_t bytes, std::size_t pack);

// dot_handlers.cc: output = input 0 [batch, m, k] * input 1 [batch, k, n] + input 2 [batch, m, n].
// table: batch, m, n, k, DotPrecision.
enum class DotPrecision { ieee, tf32, tf32x3, bf16x3, bf16x6 };
Handler dot_handler(Element operand, Element result);

// An operand of tt.dot_scaled as fp32, with its scales multiplied out.
// inputs: the numbers, their scales or none. table: ScaledForm, outer, inner, elements that share a
// scale, 1 for the right side [inner, outer] or 0 for the left side [outer, inner].
enum class ScaledForm { float_by_power, float_by_number, fp4_by_power, fp4_by_number };
void multiply_out_scales(Machine& machine, const Instruction& instruction);

}  // namespace tritonsmith::gym::triton_ir
