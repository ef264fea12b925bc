// Lists the handlers of elementwise operations. Each operation has one handler for each machine
// type of the elements. Small floats use the fp32 handler, and the lowering rounds its result. All
// operands have the result's type and count.
#pragma once

#include <string_view>

#include "gym/triton_ir/program/code.h"

namespace tritonsmith::gym::triton_ir {

// The handlers of one operation, null where it has no meaning for the type.
struct HandlerRow {
  Handler i1 = nullptr, i8 = nullptr, i16 = nullptr, i32 = nullptr, i64 = nullptr;
  Handler f32 = nullptr, f64 = nullptr;

  Handler pick(Element element) const;
};

struct ElementwiseOperation {
  std::string_view name;
  std::size_t operands = 1;
  HandlerRow handlers;
};

// Finds an operation by the IR's name: arith.*, math.* and similar ones of tt.*. Returns null for
// any other name.
const ElementwiseOperation* find_elementwise(std::string_view name);
std::span<const ElementwiseOperation> integer_operations();  // arithmetic_integer.cc
std::span<const ElementwiseOperation> float_operations();    // arithmetic_float.cc

// A function of tt.extern_elementwise, by libdevice's symbol ("__nv_tanhf"). Operand and result
// types may differ. The lowering checks them against the symbol's types.
struct LibdeviceFunction {
  std::string_view symbol;
  std::vector<Element> operands;
  Element result = Element::none;
  Handler handler = nullptr;
};
const LibdeviceFunction* find_libdevice(std::string_view symbol);

// Find the handlers of comparisons, whose result is i1. `predicate` is as the IR writes it, such as
// "slt" or "oeq".
Handler find_integer_comparison(std::string_view predicate, Element element);
Handler find_float_comparison(std::string_view predicate, Element element);

// Finds the handler of a conversion by an arith.* cast. Small floats count as f32.
Handler find_conversion(std::string_view name, Element from, Element to);
// Returns a handler that rounds the fp32 register `output` in place to a small float.
Handler rounding_handler(Element element, bool toward_zero);
// Returns a handler that rounds fp64 to fp32 "to odd", before rounding_handler.
Handler round_to_odd_handler();
// Return handlers that convert between a small float and an integer of its bits.
Handler pack_handler(Element element);
Handler unpack_handler(Element element);

// Return handlers of fills and moves, by the bytes of an element in registers. fill writes the
// immediate's low bytes, and splat writes the one element of input 0.
Handler fill_handler(std::size_t bytes);
Handler splat_handler(std::size_t bytes);
Handler copy_handler(std::size_t bytes);
Handler select_handler(std::size_t bytes);  // inputs: condition, then, else
Handler range_handler();                    // i32: immediate, immediate + 1, ...

}  // namespace tritonsmith::gym::triton_ir
