// A CUDA driver without devices, for guests. It bears the driver's name (soname libcuda.so.1), and
// a zygote loads it before torch: whoever asks the loader for the driver from then on gets this
// one. Without it torch starts the machine's real driver, which makes a thread that no fork
// survives.

// NOLINTNEXTLINE(readability-identifier-naming): the driver's
extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) {
  constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE
  return kNoDevice;
}
