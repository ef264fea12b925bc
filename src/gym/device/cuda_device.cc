#include "gym/device/cuda_device.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>
#include <link.h>

#include <limits>
#include <random>
#include <set>

#include "gym/cuda/device_code.h"
#include "gym/cuda/device_fault.h"
#include "gym/cuda/fused_oracles.h"

namespace tritonsmith::gym::device {
namespace {

constexpr std::uint8_t kGuard = 0xa5;

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// LibTorch remembers the answer when it is first asked whether its CUDA half is there. So this
// library is loaded before any other use of LibTorch.
Result<std::string> load_torch_cuda() {
  constexpr const char* name = "libtorch_cuda.so";
  void* library = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return fail("cannot load LibTorch's CUDA half: {}", ::dlerror());
  link_map* loaded = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&loaded)) != 0)
    return std::string(name);
  return std::string(loaded->l_name);
}

// Returns the root mean square of the finite values, or 1 if that is larger.
double size_of(const at::Tensor& values) {
  const at::Tensor finite = values.to(at::kDouble).nan_to_num(0.0, 0.0, 0.0);
  const double count = std::max(1.0, at::isfinite(values).sum().item<double>());
  return std::max(1.0, std::sqrt(finite.square().sum().item<double>() / count));
}

// Returns complex numbers as pairs of real numbers.
at::Tensor parts_of(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor.resolve_conj()) : tensor;
}

// The comparison converts all other types to doubles.
std::optional<cuda::ElementType> element_type(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Double:
      return cuda::ElementType::f64;
    case c10::ScalarType::Float:
      return cuda::ElementType::f32;
    case c10::ScalarType::Half:
      return cuda::ElementType::f16;
    case c10::ScalarType::BFloat16:
      return cuda::ElementType::bf16;
    default:
      return std::nullopt;
  }
}

cuda::Bytes bytes_of_tensor(const at::Tensor& contiguous) {
  return {contiguous.const_data_ptr(), contiguous.nbytes()};
}

}  // namespace

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(int ordinal, Lease* lease) {
  TRY_ASSIGN(const cuda::Driver* driver, cuda::load_driver());
  TRY_ASSIGN(cuda::GpuFacts facts, cuda::facts_of(*driver, ordinal));
  TRY_ASSIGN(const std::string torch_library, load_torch_cuda());
  std::unique_ptr<CudaDevice> device(new CudaDevice(*driver, std::move(facts), ordinal));
  device->nvrtc_ = cuda::nvrtc_beside(torch_library);
  TRY_ASSIGN(const std::string cubin,
             cuda::compile_device_source(device->nvrtc_, device->facts_.target));
  // If the lease stays taken, the start goes on without it: a spare referee is needed soon.
  constexpr std::chrono::seconds patience{5};
  const bool is_held =
      lease != nullptr && lease->take(Lease::Hold::shared, Deadline::after(patience));
  const Status taken = device->take_device(cubin);
  if (is_held) lease->give_back();
  TRY(taken);
  std::random_device entropy;
  device->salt_ = (std::uint64_t{entropy()} << 32) | entropy();
  return device;
}

Status CudaDevice::take_device(const std::string& cubin) {
  try {
    if (!at::hasCUDA()) return fail("LibTorch finds no usable GPU");
    static_cast<void>(at::zeros({1}, at::dtype(at::kFloat).device(device_)).sum());
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return fail("LibTorch cannot use the GPU: {}", what.substr(0, what.find('\n')));
  }
  TRY(cuda::use_device(driver_, device_.index()));
  TRY_ASSIGN(kernels_, cuda::DeviceKernels::make(driver_, cubin));
  return ok();
}

Result<std::span<cuda::Event>> CudaDevice::events(std::size_t count) {
  while (events_.size() < count) {
    TRY_ASSIGN(cuda::Event event, cuda::Event::make(driver_));
    events_.push_back(std::move(event));
  }
  return std::span(events_);
}

VerdictError CudaDevice::fault(CUresult result) {
  // A kernel that does not end makes the context as useless as a fault does.
  if (result == CUDA_ERROR_NOT_READY || cuda::ends_the_context(result)) spent_ = true;
  return cuda::describe_fault(result);
}

bool CudaDevice::spent() const { return spent_ || cuda::ends_the_context(kernels_->state()); }

void CudaDevice::seed(std::uint64_t seed) {
  seed_ = seed;
  draws_ = 0;
  auto generator = at::globalContext().defaultGenerator(device_);
  generator.set_current_seed(seed);
  auto host = at::globalContext().defaultGenerator(c10::kCPU);
  host.set_current_seed(seed);
}

// LibTorch draws small tensors, because a kernel of our own would save nothing there.
std::optional<at::Tensor> CudaDevice::draw(Distribution distribution, at::IntArrayRef sizes) {
  constexpr std::int64_t few = 1 << 18;
  const std::int64_t count = c10::multiply_integers(sizes);
  if (count < few || count % 4 != 0) return std::nullopt;
  at::Tensor made = at::empty(sizes, at::dtype(at::kFloat).device(device_));
  constexpr std::uint64_t odd = 0xd1342543de82ef95;
  kernels_->queue_draw(made.mutable_data_ptr<float>(), static_cast<std::uint64_t>(count),
                       seed_ ^ (odd * ++draws_), distribution == Distribution::normal);
  return made;
}

void CudaDevice::begin(tensors::Filler filler, std::int64_t) {
  filler_ = filler;
  guard_bytes_ = next_guard_bytes_;
  patience_ = Deadline::never();
  refused_ = false;
  guarded_.clear();
  foreseen_.clear();
}

void CudaDevice::end() { guarded_.clear(); }

// Returns the memory that is free or that this process keeps for the next job. LibTorch and the
// driver use little besides.
std::int64_t CudaDevice::capacity(std::int64_t) const {
  std::size_t free = 0, total = 0;
  if (driver_.memory_get_info(&free, &total) != CUDA_SUCCESS) return 0;
  const auto most = static_cast<std::int64_t>(total) / 10 * 9;
  return std::min(most, static_cast<std::int64_t>(free) + kept_bytes());
}

// Returns the bytes that LibTorch's allocator has reserved, in use or not.
std::int64_t CudaDevice::kept_bytes() const {
  const auto stats = c10::getDeviceAllocator(device_.type())->getDeviceStats(device_.index());
  constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return stats.reserved_bytes[all].current;
}

void CudaDevice::release() {
  constexpr std::int64_t much = std::int64_t{8} << 30;
  if (!spent() && kept_bytes() > much) c10::getDeviceAllocator(device_.type())->emptyCache();
}

at::Tensor CudaDevice::filled(at::Tensor made) {
  if (!made.is_cuda()) return made;
  at::Tensor tensor = guarded(made);
  const std::size_t bytes = made.storage().nbytes();
  if (bytes == 0) return tensor;
  const CUdeviceptr start = address_of(tensor.storage().data());
  driver_.memset_async(start, static_cast<std::uint8_t>(filler_), bytes, nullptr);
  if (filler_ == tensors::Filler::plausible) {
    const std::size_t quarter = bytes / 4;
    driver_.memset_async(start + quarter * (fills_++ % 4), 0, quarter, nullptr);
  }
  return tensor;
}

at::Tensor CudaDevice::fenced(at::Tensor made) {
  if (!made.is_cuda() || made.storage().nbytes() == 0) return made;
  at::Tensor tensor = guarded(made);
  tensors::storage_bytes(tensor).copy_(tensors::storage_bytes(made));
  return tensor;
}

at::Tensor CudaDevice::guarded(const at::Tensor& made) {
  const auto inner = static_cast<std::int64_t>(made.storage().nbytes());
  const std::int64_t rounded = (inner + 255) / 256 * 256;
  const at::Tensor block = at::empty({rounded + 2 * guard_bytes_}, made.options().dtype(at::kByte));
  const CUdeviceptr start = address_of(block.const_data_ptr());
  const auto guard = static_cast<std::size_t>(guard_bytes_);
  driver_.memset_async(start, kGuard, guard, nullptr);
  // The second zone begins with the first byte behind the tensor.
  driver_.memset_async(start + guard + static_cast<std::size_t>(inner), kGuard,
                       guard + static_cast<std::size_t>(rounded - inner), nullptr);
  guarded_.push_back(block.narrow(0, 0, inner + 2 * guard_bytes_));
  void* data = reinterpret_cast<void*>(start + guard);
  return at::for_blob(data, made.sizes())
      .strides(made.strides())
      .options(made.options())
      .target_device(device_)
      .deleter([block](void*) {})
      .make_tensor();
}

std::optional<VerdictError> CudaDevice::wait(Deadline deadline) {
  const Deadline until =
      std::min(deadline.at(), patience_.at()) == deadline.at() ? deadline : patience_;
  return check_guards(until);
}

std::optional<VerdictError> CudaDevice::check_guards(Deadline deadline) {
  std::vector<const void*> zones;
  for (const at::Tensor& block : guarded_) {
    const auto* first = static_cast<const std::byte*>(block.const_data_ptr());
    zones.push_back(first);
    zones.push_back(first + block.nbytes() - guard_bytes_);
  }
  const auto changed =
      kernels_->count_changed(zones, static_cast<std::size_t>(guard_bytes_), kGuard, deadline);
  if (!changed) return fault(changed.error());
  if (*changed == 0) return std::nullopt;
  return VerdictError{
      .error_class = ErrorClass::out_of_bounds,
      .message = fmt::format("a kernel wrote {} bytes beside its buffers", *changed)};
}

std::vector<Snapshot> CudaDevice::snapshots(std::span<const at::Tensor> tensors) {
  std::vector<at::Tensor> kept;  // alive until their fingerprints are taken
  std::vector<cuda::Bytes> blocks;
  for (const at::Tensor& tensor : tensors) {
    kept.push_back(tensor.contiguous());
    blocks.push_back(bytes_of_tensor(kept.back()));
  }
  std::vector<Snapshot> all(tensors.size());
  const auto prints = kernels_->fingerprints(blocks, salt_, patience_);
  if (!prints) {
    fault(prints.error());
    return all;
  }
  for (std::size_t k = 0; k < all.size(); ++k) all[k].print = (*prints)[k];
  return all;
}

// The kernel handles only whole storages of floats whose number is a multiple of four.
bool CudaDevice::change_and_copy(std::span<DrawnInput> inputs) {
  std::set<const void*> storages;
  for (const DrawnInput& input : inputs) {
    const at::Tensor& drawn = input.drawn;
    const bool fits = drawn.is_cuda() && drawn.scalar_type() == at::kFloat &&
                      drawn.is_contiguous() && drawn.numel() > 0 && drawn.numel() % 4 == 0 &&
                      drawn.storage().nbytes() == drawn.nbytes() &&
                      (input.change.kept >= 1 || input.change.rest == 0) &&
                      !input.change.has_pattern() && storages.insert(drawn.storage().data()).second;
    if (!fits) return false;
  }
  if (inputs.size() > cuda::DeviceKernels::kSpreads) return false;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    DrawnInput& input = inputs[k];
    // The copy has no storage offset, as LibTorch's own new tensors have none.
    input.copy = guarded(input.drawn);
    const InputChange& change = input.change;
    kernels_->queue_spread(input.drawn.mutable_data_ptr<float>(),
                           input.copy.mutable_data_ptr<float>(),
                           static_cast<std::uint64_t>(input.drawn.numel()),
                           {.factor = static_cast<float>(change.factor),
                            .shift = static_cast<float>(change.shift),
                            .kept = static_cast<float>(change.kept),
                            .seed = change.seed},
                           salt_, k);
  }
  return true;
}

Snapshot CudaDevice::copied(std::size_t nth) const {
  return {.print = kernels_->spread_prints()[nth]};
}

bool CudaDevice::unchanged(const at::Tensor& now, const Snapshot& before) {
  return snapshots({&now, 1}).front().print == before.print;
}

std::vector<bool> CudaDevice::each_unchanged(std::span<const at::Tensor> now,
                                             std::span<const Snapshot> before) {
  std::vector<Snapshot> after;
  const auto as_foreseen = [](const at::Tensor& tensor, const void* memory) {
    return tensor.const_data_ptr() == memory;
  };
  if (!foreseen_.empty() && std::ranges::equal(now, foreseen_, as_foreseen) &&
      kernels_->finish(patience_)) {
    for (std::size_t k = 0; k < now.size(); ++k)
      after.push_back({.print = kernels_->rounds()[kForeseenSlot + k]});
  } else {
    after = snapshots(now);
  }
  foreseen_.clear();
  std::vector<bool> all;
  for (std::size_t k = 0; k < now.size(); ++k) all.push_back(after[k].print == before[k].print);
  return all;
}

void CudaDevice::foresee(std::span<const at::Tensor> now) {
  foreseen_.clear();
  const auto fits = [](const at::Tensor& tensor) { return tensor.is_contiguous(); };
  if (now.size() > cuda::DeviceKernels::kRounds / 2 || !std::ranges::all_of(now, fits)) return;
  if (now.empty()) return;
  kernels_->clear_rounds(kForeseenSlot, now.size());
  for (const at::Tensor& tensor : now) {
    const cuda::Bytes block = bytes_of_tensor(tensor);
    kernels_->add_fingerprint(block, salt_, kForeseenSlot + foreseen_.size());
    foreseen_.push_back(block.at);
  }
  kernels_->bring_rounds(kForeseenSlot, now.size());
}

// The compared values may be the expected output. So no copy of it may stay in freed memory.
void CudaDevice::forget_copy(const at::Tensor& copy, const at::Tensor& original) {
  if (copy.defined() && copy.storage().data() != original.storage().data()) forget({&copy, 1});
}

void CudaDevice::forget(std::span<const at::Tensor> tensors) {
  for (const at::Tensor& tensor : tensors)
    if (tensor.defined() && tensor.is_cuda() && tensor.storage().nbytes() > 0)
      driver_.memset_async(address_of(tensor.storage().data()), 0xff, tensor.storage().nbytes(),
                           nullptr);
}

compare::Mismatch CudaDevice::compare(const at::Tensor& candidate, const at::Tensor& reference,
                                      const at::Tensor& oracle,
                                      const compare::CompareOptions& comparison) {
  at::Tensor got = parts_of(candidate).contiguous(), expected = parts_of(reference).contiguous(),
             exact;
  const auto type = element_type(got.scalar_type());
  if (!type) {
    got = got.to(at::kDouble);
    expected = expected.to(at::kDouble);
  }
  if (oracle.defined()) exact = parts_of(oracle).to(at::kDouble).contiguous();
  double unit = 1;
  if (comparison.unit == compare::AbsoluteUnit::output_size)
    unit = exact.defined() ? -1 : size_of(expected);
  const auto count = kernels_->compare(
      {.candidate = got.const_data_ptr(),
       .reference = expected.const_data_ptr(),
       .oracle = exact.defined() ? exact.const_data_ptr<double>() : nullptr,
       .type = type.value_or(cuda::ElementType::f64),
       .count = static_cast<std::uint64_t>(got.numel()),
       .tolerance = comparison.tolerance.value,
       .unit = unit,
       .usable_share = compare::kToleranceRules.usable_share_of(comparison.tolerance.widest),
       .final_scale = comparison.final_scale,
       .raw = candidate.const_data_ptr(),
       .width = candidate.is_complex() ? 0U : static_cast<std::uint32_t>(candidate.element_size()),
       .filler = static_cast<std::uint8_t>(comparison.filler)},
      patience_);
  forget_copy(got, candidate);
  forget_copy(expected, reference);
  forget_copy(exact, oracle);
  if (!count) {
    fault(count.error());
    return {.first = 0, .count = got.numel()};
  }
  return {.first = count->count > 0 ? static_cast<std::int64_t>(count->first) : -1,
          .count = static_cast<std::int64_t>(count->count),
          .unwritten = static_cast<std::int64_t>(count->unwritten),
          .only_exact = count->far == 0,
          .max_abs = count->max_abs,
          .max_rel = count->max_rel};
}

namespace {

// `count` is the number of elements.
compare::ReferenceQuality quality_of(const cuda::MeasuredReference& measured, double count) {
  const auto finite = static_cast<double>(measured.finite_reference);
  const double size = std::sqrt(measured.square_sum / std::max(1.0, finite));
  const bool is_finite = finite == count;
  const bool known = measured.one_finite == 0 && (size > 0 || measured.own_error == 0);
  return {.is_finite = is_finite,
          .own_error = known ? measured.own_error / std::max(size, 1e-300)
                             : std::numeric_limits<double>::infinity()};
}

// Applies the rules of compare.cc to the largest excess of all elements. A result within rounding
// of the limits is left to the comparison element by element.
bool is_surely_right(const cuda::JudgedValues& judged, const compare::CompareOptions& how) {
  constexpr double below = 1 - 1e-9;
  constexpr compare::ToleranceRules rules = compare::kToleranceRules;
  const double tolerance = how.tolerance.value;
  const double known = std::max(1.0, static_cast<double>(judged.reference.finite_reference));
  const double unit = how.unit == compare::AbsoluteUnit::one
                          ? 1
                          : std::max(1.0, std::sqrt(judged.expected_squares / known));
  if (judged.alone > 0 || judged.far > below * tolerance * unit) return false;
  const double rms = std::sqrt(judged.reference.square_sum / known);
  const double own = judged.reference.own_error;
  // Near the limit of `usable_share` the check assumes that there is a budget.
  const bool has_budget =
      how.rule == Comparison::budget && judged.reference.one_finite == 0 &&
      below * own <= rules.usable_share_of(how.tolerance.widest) * tolerance * rms;
  const double slack = rules.budget_slack(tolerance, rms, own, how.final_scale);
  return !has_budget || judged.beyond <= below * slack;
}

}  // namespace

compare::QuickJudgement CudaDevice::judge(const at::Tensor& candidate, const at::Tensor& reference,
                                          const compare::ExactValues& exact,
                                          const compare::CompareOptions& comparison) {
  const auto type = element_type(candidate.scalar_type());
  if (!type || reference.scalar_type() != candidate.scalar_type()) return {};
  std::vector<const void*> leaves;
  for (const at::Tensor& leaf : exact.leaves) leaves.push_back(leaf.const_data_ptr());
  const auto judged = kernels_->judge(
      {.candidate = candidate.const_data_ptr(),
       .reference = reference.const_data_ptr(),
       .oracle = exact.fused == nullptr ? exact.values.const_data_ptr<double>() : nullptr,
       .type = *type,
       .count = static_cast<std::uint64_t>(candidate.numel()),
       .tolerance = comparison.tolerance.value},
      exact.fused != nullptr ? exact.fused->function : nullptr, leaves, patience_);
  if (!judged) {
    fault(judged.error());
    return {};
  }
  const auto count = static_cast<double>(candidate.numel());
  return {.is_right = is_surely_right(*judged, comparison),
          .reference = quality_of(judged->reference, count),
          .max_abs = judged->max_abs,
          .max_rel = judged->max_rel};
}

compare::ReferenceQuality CudaDevice::measure(const at::Tensor& reference,
                                              const at::Tensor& oracle) {
  at::Tensor expected = reference.contiguous();
  const auto type = element_type(expected.scalar_type());
  if (!type) expected = expected.to(at::kDouble);
  const at::Tensor exact = oracle.to(at::kDouble).contiguous();
  const auto measured = kernels_->measure({.reference = expected.const_data_ptr(),
                                           .oracle = exact.const_data_ptr<double>(),
                                           .type = type.value_or(cuda::ElementType::f64),
                                           .count = static_cast<std::uint64_t>(expected.numel())},
                                          patience_);
  forget_copy(expected, reference);
  forget_copy(exact, oracle);
  if (!measured) {
    fault(measured.error());
    return {};
  }
  return quality_of(*measured, static_cast<double>(expected.numel()));
}

}  // namespace tritonsmith::gym::device
