#include "gym/tensors/scalar_type.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Half.h>

#include <cmath>
#include <limits>

namespace tritonsmith::gym::tensors {

c10::ScalarType scalar_type_of(plan::DType dtype) {
  switch (dtype) {
    case plan::DType::boolean:
      return c10::kBool;
    case plan::DType::uint8:
      return c10::kByte;
    case plan::DType::uint16:
      return c10::ScalarType::UInt16;
    case plan::DType::uint32:
      return c10::ScalarType::UInt32;
    case plan::DType::uint64:
      return c10::ScalarType::UInt64;
    case plan::DType::int8:
      return c10::kChar;
    case plan::DType::int16:
      return c10::kShort;
    case plan::DType::int32:
      return c10::kInt;
    case plan::DType::int64:
      return c10::kLong;
    case plan::DType::float16:
      return c10::kHalf;
    case plan::DType::bfloat16:
      return c10::kBFloat16;
    case plan::DType::float32:
      return c10::kFloat;
    case plan::DType::float64:
      return c10::kDouble;
    case plan::DType::complex32:
      return c10::kComplexHalf;
    case plan::DType::complex64:
      return c10::kComplexFloat;
    case plan::DType::complex128:
      return c10::kComplexDouble;
    case plan::DType::float8_e4m3fn:
      return c10::ScalarType::Float8_e4m3fn;
    case plan::DType::float8_e5m2:
      return c10::ScalarType::Float8_e5m2;
    case plan::DType::float8_e4m3fnuz:
      return c10::ScalarType::Float8_e4m3fnuz;
    case plan::DType::float8_e5m2fnuz:
      return c10::ScalarType::Float8_e5m2fnuz;
  }
  return c10::ScalarType::Undefined;
}

std::string type_name(c10::ScalarType type) {
  for (const auto& [dtype, name] : enum_names<plan::DType>)
    if (scalar_type_of(dtype) == type) return std::string(name);
  return c10::toString(type);
}

bool is_finite_in(c10::ScalarType type, double number) {
  const double size = std::abs(number);
  switch (type) {
    case c10::kHalf:
      return size <= std::numeric_limits<c10::Half>::max();
    case c10::kBFloat16:
      return size <= std::numeric_limits<c10::BFloat16>::max();
    case c10::kFloat:
      return size <= std::numeric_limits<float>::max();
    case c10::ScalarType::Float8_e4m3fn:
      return size <= std::numeric_limits<c10::Float8_e4m3fn>::max();
    case c10::ScalarType::Float8_e5m2:
      return size <= std::numeric_limits<c10::Float8_e5m2>::max();
    default:
      return std::isfinite(number);
  }
}

}  // namespace tritonsmith::gym::tensors
