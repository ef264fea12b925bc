#include "gym/language/triton/cuda_executor.h"

#include <bit>
#include <cstring>
#include <limits>

#include "gym/cuda/device_fault.h"

namespace tritonsmith::gym::language::triton {
namespace {

constexpr double kGib = 1 << 30;
constexpr double kMostScratchBytes = 2 * kGib;

LaunchOutcome failed(ErrorClass error_class, std::string message, Fault fault) {
  return {.error = VerdictError{.error_class = error_class, .message = std::move(message)},
          .fault = fault};
}

// Rounds to nearest, ties to even, as a host's cast to the narrow type does.
std::uint64_t half_bits(double value) {
  const _Float16 half = static_cast<_Float16>(value);
  return std::bit_cast<std::uint16_t>(half);
}

std::uint64_t bfloat_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (value != value) return 0x7fc0;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

Result<std::uint64_t> pack_number(const std::string& type, const KernelArgument& argument) {
  double real = 0;
  std::int64_t whole = 0;
  if (const auto* i = std::get_if<std::int64_t>(&argument)) {
    whole = *i;
    real = static_cast<double>(*i);
  } else if (const auto* b = std::get_if<bool>(&argument)) {
    whole = *b ? 1 : 0;
    real = *b ? 1 : 0;
  } else {
    real = std::get<double>(argument);
  }
  if (type == "fp64") return std::bit_cast<std::uint64_t>(real);
  if (type == "fp32") return std::bit_cast<std::uint32_t>(static_cast<float>(real));
  if (type == "fp16") return half_bits(real);
  if (type == "bf16") return bfloat_bits(real);
  const bool is_integer = type.starts_with('i') || type.starts_with('u');
  if (!is_integer || std::holds_alternative<double>(argument))
    return fail("a number does not fit the type {}", type);
  return static_cast<std::uint64_t>(whole);
}

}  // namespace

KernelParameters::KernelParameters(std::vector<std::uint64_t> values) : values_(std::move(values)) {
  for (std::uint64_t& value : values_) pointers_.push_back(&value);
}

Result<KernelParameters> KernelParameters::pack(const std::vector<std::string>& types,
                                                std::span<const KernelArgument> arguments,
                                                CUdeviceptr scratch) {
  if (types.size() != arguments.size())
    return fail("the kernel takes {} arguments, not {}", types.size(), arguments.size());
  std::vector<std::uint64_t> values;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const bool wants_pointer = types[k].starts_with('*');
    const auto* buffer = std::get_if<KernelBuffer>(&arguments[k]);
    if (wants_pointer != (buffer != nullptr))
      return fail("argument {} of type {} is of another kind", k, types[k]);
    if (buffer != nullptr) {
      values.push_back(reinterpret_cast<std::uint64_t>(buffer->storage) + buffer->offset_bytes);
      continue;
    }
    TRY_ASSIGN(const std::uint64_t value, pack_number(types[k], arguments[k]));
    values.push_back(value);
  }
  values.push_back(scratch);
  values.push_back(0);
  return KernelParameters(std::move(values));
}

void CudaExecutor::use(const std::vector<KernelBinary>& kernels) {
  free_scratch();
  modules_.clear();
  functions_.assign(kernels.size(), nullptr);
  kernels_ = &kernels;
}

tl::expected<CUfunction, LaunchOutcome> CudaExecutor::function_of(std::size_t index) {
  const auto unusable = [](std::string why) {
    return tl::unexpected(
        failed(ErrorClass::referee_failed, std::move(why), Fault::infrastructure));
  };
  if (kernels_ == nullptr || index >= kernels_->size())
    return unusable("a kernel was not compiled");
  if (functions_[index] != nullptr) return functions_[index];
  const KernelBinary& binary = (*kernels_)[index];
  auto at = modules_.find(binary.cubin);
  if (at == modules_.end()) {
    CUresult loaded = CUDA_SUCCESS;
    auto module = cuda::Module::load(driver_, binary.cubin, &loaded);
    // The context was lost before this load. An operator of the candidate asserted, or wrote beside its
    // memory.
    if (!module && cuda::ends_the_context(loaded))
      return tl::unexpected(
          LaunchOutcome{.error = cuda::describe_fault(loaded), .fault = Fault::candidate});
    if (!module) return unusable(module.error().message);
    at = modules_.emplace(binary.cubin, *std::move(module)).first;
  }
  const auto function = at->second.function(binary.name);
  if (!function) return unusable(function.error().message);
  constexpr int without_asking = 48 << 10;
  if (binary.shared_bytes > without_asking) {
    const Status granted = cuda::checked(
        driver_,
        driver_.function_set_attribute(*function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       binary.shared_bytes),
        fmt::format("{} bytes of shared memory", binary.shared_bytes));
    if (!granted)
      return tl::unexpected(
          failed(ErrorClass::out_of_resources, granted.error().message, Fault::candidate));
  }
  functions_[index] = *function;
  return *function;
}

Result<CUdeviceptr> CudaExecutor::scratch(std::size_t bytes) {
  if (bytes <= scratch_bytes_) return scratch_;
  free_scratch();
  TRY(cuda::checked(driver_, driver_.memory_alloc(&scratch_, bytes), "no memory for scratch"));
  scratch_bytes_ = bytes;
  return scratch_;
}

// The driver waits for kernels that still use the memory.
void CudaExecutor::free_scratch() {
  if (scratch_bytes_ > 0) driver_.memory_free(scratch_);
  scratch_ = 0;
  scratch_bytes_ = 0;
}

CUresult CudaExecutor::start(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                             CUfunction function, KernelParameters& parameters) {
  const KernelBinary& binary = (*kernels_)[static_cast<std::size_t>(choice.kernel)];
  constexpr int portable_cluster = 8;
  if (kernel.num_ctas > portable_cluster)
    driver_.function_set_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                                   1);
  const cuda::LaunchShape shape{
      .grid = {static_cast<unsigned>(choice.grid[0]), static_cast<unsigned>(choice.grid[1]),
               static_cast<unsigned>(choice.grid[2])},
      .threads = 32 * static_cast<unsigned>(binary.num_warps),
      .shared_bytes = static_cast<unsigned>(binary.shared_bytes),
      .cluster = static_cast<unsigned>(kernel.num_ctas)};
  return cuda::launch(driver_, function, shape, parameters.data());
}

Status CudaExecutor::check_parameters(CUfunction function, std::size_t given) const {
  std::size_t offset = 0, bytes = 0;
  for (std::size_t k = 0; k <= given; ++k) {
    if (driver_.function_get_parameter(function, k, &offset, &bytes) != CUDA_SUCCESS) return ok();
    if (k == given || bytes > sizeof(std::uint64_t))
      return fail("the compiled kernel takes other arguments than its plan says");
  }
  return ok();
}

LaunchOutcome CudaExecutor::launch(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                                   std::span<const KernelArgument> arguments, Deadline) {
  const auto function = function_of(static_cast<std::size_t>(choice.kernel));
  if (!function) return function.error();
  const std::int64_t blocks = choice.grid[0] * kernel.num_ctas;
  if (blocks > std::numeric_limits<std::int32_t>::max())
    return failed(ErrorClass::bad_launch, fmt::format("{} blocks are more than a grid has", blocks),
                  Fault::candidate);
  const double scratch_bytes =
      static_cast<double>((*kernels_)[static_cast<std::size_t>(choice.kernel)].scratch_bytes) *
      static_cast<double>(blocks) * static_cast<double>(choice.grid[1] * choice.grid[2]);
  if (scratch_bytes > kMostScratchBytes)
    return failed(
        ErrorClass::too_large_to_evaluate,
        fmt::format("the launch needs {:.1f} GiB of scratch memory", scratch_bytes / kGib),
        Fault::none);
  const auto memory = scratch(static_cast<std::size_t>(scratch_bytes));
  if (!memory)
    return failed(ErrorClass::too_large_to_evaluate, memory.error().message, Fault::none);
  auto parameters = KernelParameters::pack(kernel.arguments, arguments, *memory);
  if (!parameters)
    return failed(ErrorClass::bad_launch, parameters.error().message, Fault::candidate);
  if (const auto fits = check_parameters(*function, arguments.size() + 2); !fits)
    return failed(ErrorClass::bad_plan, fits.error().message, Fault::candidate);
  CUresult result = CUDA_SUCCESS;
  const auto run = [&] { return result = start(kernel, choice, *function, *parameters); };
  LaunchOutcome outcome;
  if (eyes_ != nullptr) {
    outcome = observe(arguments, run);
  } else {
    run();
  }
  const Status launched = cuda::checked(driver_, result, "the launch was refused");
  // After an earlier kernel's fault every call returns that error. The next wait reports it.
  if (!launched && !cuda::ends_the_context(result))
    return failed(ErrorClass::bad_launch, launched.error().message, Fault::candidate);
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (std::holds_alternative<KernelBuffer>(arguments[k]))
      outcome.loaded.push_back(static_cast<int>(k));
  return outcome;
}

LaunchOutcome CudaExecutor::observe(std::span<const KernelArgument> arguments,
                                    const std::function<CUresult()>& run) {
  std::vector<cuda::Bytes> blocks;
  std::vector<int> indices;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const auto* buffer = std::get_if<KernelBuffer>(&arguments[k]);
    if (buffer == nullptr || buffer->storage_bytes == 0) continue;
    blocks.push_back({buffer->storage, buffer->storage_bytes});
    indices.push_back(static_cast<int>(k));
  }
  constexpr std::uint64_t salt = 0x7261636546616374;  // no candidate gains by a collision here
  const auto fault = [](CUresult result) {
    return LaunchOutcome{.error = cuda::describe_fault(result), .fault = Fault::candidate};
  };
  const Deadline deadline = Deadline::after(patience_);
  const auto before = eyes_->fingerprints(blocks, salt, deadline);
  if (!before) return fault(before.error());
  if (run() != CUDA_SUCCESS) return {};
  const auto after = eyes_->fingerprints(blocks, salt, deadline);
  if (!after) return fault(after.error());
  LaunchOutcome outcome;
  for (std::size_t k = 0; k < blocks.size(); ++k)
    if ((*before)[k] != (*after)[k]) outcome.stored.push_back(indices[k]);
  return outcome;
}

}  // namespace tritonsmith::gym::language::triton
