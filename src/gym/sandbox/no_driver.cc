// A CUDA driver without devices, for guests. It has the driver's name (soname libcuda.so.1), and a
// zygote loads it before torch. From then on, the loader returns this library when code asks for
// the driver. Without it torch would start the machine's real driver, which makes a thread that
// does not survive a fork.

// NOLINTNEXTLINE(readability-identifier-naming): the driver's
extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) {
  constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE
  return kNoDevice;
}
