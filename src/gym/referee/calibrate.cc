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
  device::CudaDevice& gpu = *equipment.gpu;
  gpu.take_turn_alone();
  Result<Calibration> calibration =
      fail_by_fault("another process held the GPU's lease for {} s", patience.count());
  if (!equipment.lease || equipment.lease->take(Lease::Hold::alone, Deadline::after(patience))) {
    gpu.release();  // LibTorch keeps memory that the kernels need
    calibration = calibrate(gpu);
  }
  if (equipment.lease) equipment.lease->give_back();
  gpu.give_back_turn();
  return calibration;
}

}  // namespace tritonsmith::gym::referee
