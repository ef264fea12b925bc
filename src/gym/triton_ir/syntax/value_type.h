// ValueType: the type of one value of Triton IR, which is an element type and, for tensors, a
// shape. Registers keep small floats as fp32 numbers that the format can hold, and other elements
// in their own type. Pure data. The parser reports all errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::gym::triton_ir {

enum class Element {
  i1,
  i8,
  i16,
  i32,
  i64,
  f8e5m2,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2fnuz,
  f8e4m3b11fnuz,
  f16,
  bf16,
  f32,
  f64,
  pointer,
  descriptor,
  none,
};

}  // namespace tritonsmith::gym::triton_ir

namespace tritonsmith {
// The names in Triton IR. The parser reads `index` as i64.
template <>
inline constexpr auto enum_names<gym::triton_ir::Element> =
    names<gym::triton_ir::Element>({{gym::triton_ir::Element::i1, "i1"},
                                    {gym::triton_ir::Element::i8, "i8"},
                                    {gym::triton_ir::Element::i16, "i16"},
                                    {gym::triton_ir::Element::i32, "i32"},
                                    {gym::triton_ir::Element::i64, "i64"},
                                    {gym::triton_ir::Element::f8e5m2, "f8E5M2"},
                                    {gym::triton_ir::Element::f8e4m3fn, "f8E4M3FN"},
                                    {gym::triton_ir::Element::f8e4m3fnuz, "f8E4M3FNUZ"},
                                    {gym::triton_ir::Element::f8e5m2fnuz, "f8E5M2FNUZ"},
                                    {gym::triton_ir::Element::f8e4m3b11fnuz, "f8E4M3B11FNUZ"},
                                    {gym::triton_ir::Element::f16, "f16"},
                                    {gym::triton_ir::Element::bf16, "bf16"},
                                    {gym::triton_ir::Element::f32, "f32"},
                                    {gym::triton_ir::Element::f64, "f64"},
                                    {gym::triton_ir::Element::pointer, "pointer"},
                                    {gym::triton_ir::Element::descriptor, "descriptor"},
                                    {gym::triton_ir::Element::none, "none"}});
}  // namespace tritonsmith

namespace tritonsmith::gym::triton_ir {

bool is_integer(Element element);      // i1 to i64
bool is_float(Element element);        // all the floats
bool is_small_float(Element element);  // the floats that registers keep as fp32

// Return the bytes of one element in a register and in a tensor's memory. 0 for descriptors.
std::size_t register_bytes(Element element);
std::size_t memory_bytes(Element element);

struct ValueType {
  Element element = Element::none;
  Element pointee = Element::none;  // of a pointer; of a descriptor, its block's element
  std::vector<std::int64_t> shape;  // of a tensor; of a descriptor, its block
  bool is_tensor = false;
  bool operator==(const ValueType&) const = default;

  // Returns the elements of the register: 1 for a scalar. The parser limits it to kMaxElements.
  std::int64_t count() const;
  ValueType with_element(Element other) const;
  ValueType pointed_to() const;  // same shape, with the pointee as element
};

ValueType scalar_of(Element element);
ValueType tensor_of(Element element, std::vector<std::int64_t> shape);

// Writes the type as Triton IR does: "tensor<16x16x!tt.ptr<f32>>".
std::string to_string(const ValueType& type);

// Triton's own limit on one tensor (TRITON_MAX_TENSOR_NUMEL).
inline constexpr std::int64_t kMaxElements = 1048576;
inline constexpr std::size_t kMaxRank = 24;

}  // namespace tritonsmith::gym::triton_ir
