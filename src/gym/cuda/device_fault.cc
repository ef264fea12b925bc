#include "gym/cuda/device_fault.h"

namespace tritonsmith::gym::cuda {

VerdictError describe_fault(CUresult result) {
  const auto error = [](ErrorClass error_class, std::string message) {
    return VerdictError{.error_class = error_class, .message = std::move(message)};
  };
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return error(ErrorClass::out_of_bounds, "a kernel read or wrote an illegal address");
    case CUDA_ERROR_MISALIGNED_ADDRESS:
      return error(ErrorClass::out_of_bounds, "a kernel read or wrote a misaligned address");
    case CUDA_ERROR_ASSERT:
      return error(ErrorClass::assertion_failed, "an assertion failed on the GPU");
    case CUDA_ERROR_NOT_READY:
      return error(ErrorClass::timeout, "a kernel did not end in time");
    default:
      return error(ErrorClass::device_fault,
                   fmt::format("the GPU stopped with CUDA error {}", static_cast<int>(result)));
  }
}

}  // namespace tritonsmith::gym::cuda
