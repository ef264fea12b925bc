#include "gym/referee/calibrate.h"

#include "gym/cuda/calibration.h"
#include "gym/cuda/device_code.h"

namespace tritonsmith::gym::referee {

Result<Calibration> calibrate(device::CudaDevice& gpu) {
  // Long enough for a GPU that was idle to reach its clock.
  constexpr double seconds = 0.5;
  TRY_ASSIGN(const std::string cubin,
             cuda::compile_source(gpu.nvrtc(), gpu.facts().target, cuda::calibration_source()));
  TRY_ASSIGN(auto kernels,
             cuda::CalibrationKernels::make(gpu.driver(), cubin, gpu.facts().multiprocessors));
  return kernels.run(seconds);
}

Result<Calibration> calibrate(Equipment& equipment) {
  if (equipment.gpu == nullptr) return fail("a referee on the CPU has nothing to calibrate");
  constexpr std::chrono::seconds patience{5};
  if (equipment.lease && !equipment.lease->take(Lease::Hold::alone, Deadline::after(patience)))
    return fail_by_fault("another process held the GPU's lease for {} s", patience.count());
  equipment.device.release();  // LibTorch keeps memory that the kernels need
  auto calibration = calibrate(*equipment.gpu);
  if (equipment.lease) equipment.lease->give_back();
  return calibration;
}

}  // namespace tritonsmith::gym::referee
