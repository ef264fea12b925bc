// Elementwise operations: for each, the handlers by the machine type of the elements. Small floats
// use the fp32 handler, and the lowering rounds its result. All operands have the result's type and
// count.
#pragma once

#include <string_view>

#include "gym/triton_ir/program/code.h"

namespace tritonsmith::gym::triton_ir {

// Handlers of one operation; nothing where it has no meaning for the type.
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

// By the IR's name: arith.*, math.* and the like of tt.*. Nothing when it is none of these.
const ElementwiseOperation* find_elementwise(std::string_view name);
std::span<const ElementwiseOperation> integer_operations();  // arithmetic_integer.cc
std::span<const ElementwiseOperation> float_operations();    // arithmetic_float.cc

// tt.extern_elementwise, by libdevice's symbol ("__nv_tanhf"). Operand and result types may differ:
// the types that the symbol has, which the lowering checks.
struct LibdeviceFunction {
  std::string_view symbol;
  std::vector<Element> operands;
  Element result = Element::none;
  Handler handler = nullptr;
};
const LibdeviceFunction* find_libdevice(std::string_view symbol);

// Comparisons, result i1. `predicate` as the IR writes it: "slt", "oeq".
Handler find_integer_comparison(std::string_view predicate, Element element);
Handler find_float_comparison(std::string_view predicate, Element element);

// Conversions between element types by arith.* cast operations; small floats count as f32.
Handler find_conversion(std::string_view name, Element from, Element to);
// Rounds the fp32 register `output` in place to a small float.
Handler rounding_handler(Element element, bool toward_zero);
// fp64 to fp32 by rounding to odd (then rounding_handler rounds once more).
Handler round_to_odd_handler();
// Between a small float's register and an integer register of its bits.
Handler pack_handler(Element element);
Handler unpack_handler(Element element);

// Fills and moves, by bytes of the element in registers. fill: the immediate's low bytes; splat:
// input 0's one element.
Handler fill_handler(std::size_t bytes);
Handler splat_handler(std::size_t bytes);
Handler copy_handler(std::size_t bytes);
Handler select_handler(std::size_t bytes);  // inputs: condition, then, else
Handler range_handler();                    // i32: immediate, immediate + 1, ...

}  // namespace tritonsmith::gym::triton_ir
