#include "gym/cuda/device_fault.h"

namespace tritonsmith::gym::cuda {

VerdictError describe_fault(CUresult result) {
  const auto error = [](std::string error_class, std::string message) {
    return VerdictError{.error_class = std::move(error_class), .message = std::move(message)};
  };
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return error("out_of_bounds", "a kernel read or wrote an illegal address");
    case CUDA_ERROR_MISALIGNED_ADDRESS:
      return error("out_of_bounds", "a kernel read or wrote a misaligned address");
    case CUDA_ERROR_ASSERT:
      return error("assertion_failed", "an assertion failed on the GPU");
    case CUDA_ERROR_NOT_READY:
      return error("timeout", "a kernel did not end in time");
    default:
      return error("device_fault",
                   fmt::format("the GPU stopped with CUDA error {}", static_cast<int>(result)));
  }
}

}  // namespace tritonsmith::gym::cuda
