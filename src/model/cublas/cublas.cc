#include "model/cublas/cublas.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include "base/check.h"
#include "base/log.h"
#include "model/cublas/cublas_matmul.h"

namespace tritonsmith::model {
namespace {

constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;
constexpr std::size_t kMostMatmuls = 4096;
// More uses than one batch of unusual length causes: several passes through all layers.
constexpr int kFrequent = 300;

template <typename Function>
Function* symbol(const char* name) {
  auto* found = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
  TORCH_CHECK(found != nullptr, "cuBLASLt has no ", name);
  return found;
}

void check_matrix(const at::Tensor& tensor) {
  CHECK(tensor.dim() == 2 && tensor.stride(1) == 1 && tensor.is_cuda(),
        "a product takes matrices of contiguous rows on a GPU");
}

}  // namespace

cublaslt::DataType data_type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return cublaslt::kFloat32;
    case at::kHalf:
      return cublaslt::kFloat16;
    default:
      return cublaslt::kBFloat16;
  }
}

cuda::Stream current_stream(c10::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  return guard.getStreamNativeHandle(guard.getStream(device));
}

Cublas::Api::Api()
    : create(symbol<cublaslt::Create>("cublasLtCreate")),
      destroy(symbol<cublaslt::Destroy>("cublasLtDestroy")),
      matmul(symbol<cublaslt::Multiply>("cublasLtMatmul")),
      make_desc(symbol<cublaslt::CreateDescription>("cublasLtMatmulDescCreate")),
      destroy_desc(symbol<cublaslt::Destroy>("cublasLtMatmulDescDestroy")),
      set_desc(symbol<cublaslt::SetDescription>("cublasLtMatmulDescSetAttribute")),
      make_layout(symbol<cublaslt::CreateLayout>("cublasLtMatrixLayoutCreate")),
      set_layout(symbol<cublaslt::SetLayout>("cublasLtMatrixLayoutSetAttribute")),
      destroy_layout(symbol<cublaslt::Destroy>("cublasLtMatrixLayoutDestroy")),
      make_preference(symbol<cublaslt::CreatePreference>("cublasLtMatmulPreferenceCreate")),
      destroy_preference(symbol<cublaslt::Destroy>("cublasLtMatmulPreferenceDestroy")),
      set_preference(symbol<cublaslt::SetPreference>("cublasLtMatmulPreferenceSetAttribute")),
      heuristic(symbol<cublaslt::FindAlgorithms>("cublasLtMatmulAlgoGetHeuristic")) {}

Cublas::Cublas(c10::Device device, KernelChoice choice, Sums sums)
    : device_(device), choice_(choice), sums_(sums) {
  static const Api api;
  api_ = &api;
  cublaslt::Handle handle = nullptr;
  TORCH_CHECK(api.create(&handle) == cublaslt::kSuccess, "cuBLASLt does not start");
  handle_ = handle;
  workspace_ = at::empty({kWorkspaceBytes}, at::TensorOptions(at::kByte).device(device));
}

std::int64_t Cublas::workspace_bytes() { return kWorkspaceBytes; }

Cublas::~Cublas() {
  matmuls_.clear();
  api_->destroy(handle_);
}

// Makes a matmul without candidates.
std::unique_ptr<Cublas::Matmul> Cublas::make_matmul(const Product& product) const {
  auto matmul = std::make_unique<Matmul>(*api_);
  int failures =
      api_->make_desc(&matmul->description, cublaslt::kComputeFloat32, cublaslt::kFloat32);
  const auto set = [&](cublaslt::DescriptionAttribute attribute, auto value) {
    failures |= api_->set_desc(matmul->description, attribute, static_cast<const void*>(&value),
                               sizeof value);
  };
  set(cublaslt::kFirstOperation, product.first_operation);
  set(cublaslt::kSecondOperation, product.second_operation);
  if (product.bias != nullptr) {
    set(cublaslt::kEpilogue, cublaslt::kAddBias);
    set(cublaslt::kBiasPointer, static_cast<const void*>(product.bias->data_ptr()));
  }
  // The parts of a sum form a batch with this offset in elements.
  const auto layout = [&](cublaslt::Layout* made, const at::Tensor& matrix, std::int64_t step) {
    failures |=
        api_->make_layout(made, data_type_of(matrix), static_cast<std::uint64_t>(matrix.size(1)),
                          static_cast<std::uint64_t>(matrix.size(0)), matrix.stride(0));
    if (!product.is_in_parts()) return;
    const std::int32_t count = product.parts;
    failures |= api_->set_layout(*made, cublaslt::kBatchCount, &count, sizeof count);
    failures |= api_->set_layout(*made, cublaslt::kBatchOffset, &step, sizeof step);
  };
  layout(&matmul->first, product.first, product.depth);
  layout(&matmul->second, product.second, product.depth);
  layout(&matmul->out, product.out, product.part_step);
  TORCH_CHECK(failures == 0, "cuBLASLt refuses a product");
  return matmul;
}

Cublas::Matmul& Cublas::matmul_for(const Product& product) {
  if (matmuls_.size() > kMostMatmuls) matmuls_.clear();
  auto& matmul = matmuls_[product.key()];
  if (matmul != nullptr) return *matmul;
  matmul = make_matmul(product);
  if (product.sums == Sums::equal)
    choose_equal(*matmul, product);
  else
    guess(*matmul, product, 1);
  return *matmul;
}

// Asks cuBLASLt for up to `most` kernels, the most promising first.
void Cublas::guess(Matmul& matmul, const Product& product, int most) const {
  cublaslt::Preference preference = nullptr;
  int failures = api_->make_preference(&preference);
  const auto bytes = static_cast<std::uint64_t>(kWorkspaceBytes);
  failures |= api_->set_preference(preference, cublaslt::kMostWorkspaceBytes, &bytes, sizeof bytes);
  const std::uint32_t alignment = 16;
  for (const auto attribute : {cublaslt::kAlignmentOfFirst, cublaslt::kAlignmentOfSecond,
                               cublaslt::kAlignmentOfAddend, cublaslt::kAlignmentOfOut})
    failures |= api_->set_preference(preference, attribute, &alignment, sizeof alignment);
  if (product.sums == Sums::equal)
    failures |= api_->set_preference(preference, cublaslt::kReductionSchemes,
                                     &cublaslt::kNoReduction, sizeof cublaslt::kNoReduction);
  matmul.candidates.resize(static_cast<std::size_t>(most));
  int found = 0;
  failures |= api_->heuristic(handle_, matmul.description, matmul.first, matmul.second, matmul.out,
                              matmul.out, preference, most, matmul.candidates.data(), &found);
  api_->destroy_preference(preference);
  TORCH_CHECK(failures == 0 && found > 0, "cuBLASLt has no kernel for a product of ",
              product.out.sizes(), " over ", product.depth);
  matmul.candidates.resize(static_cast<std::size_t>(found));
}

int Cublas::launch(const Matmul& matmul, const Product& product, int candidate, void* out) const {
  const float beta = product.addend != nullptr ? 1.0f : 0.0f;
  // A measurement on a copy must keep an in-place sum in place.
  const bool in_place =
      product.addend == nullptr || product.addend->data_ptr() == product.out.data_ptr();
  return api_->matmul(handle_, matmul.description, &product.factor, product.first.data_ptr(),
                      matmul.first, product.second.data_ptr(), matmul.second, &beta,
                      in_place ? out : product.addend->data_ptr(), matmul.out, out, matmul.out,
                      &matmul.candidates[static_cast<std::size_t>(candidate)].algorithm,
                      workspace_.data_ptr(), static_cast<std::size_t>(kWorkspaceBytes),
                      current_stream(device_));
}

void Cublas::run(const Product& product) {
  for (const at::Tensor* matrix : {&product.out, &product.first, &product.second})
    check_matrix(*matrix);
  CHECK(product.first.scalar_type() == product.second.scalar_type(),
        "the operands of a product have one type");
  if (product.out.numel() == 0) return;
  Matmul& matmul = matmul_for(product);
  if (product.bias != nullptr) {
    const void* bias = product.bias->data_ptr();
    api_->set_desc(matmul.description, cublaslt::kBiasPointer, static_cast<const void*>(&bias),
                   sizeof bias);
  }
  const int due = choice_ == KernelChoice::measure ? 1 : kFrequent;
  if (product.sums == Sums::fast && choice_ != KernelChoice::guess && ++matmul.uses == due)
    measure(matmul, product);
  int code = launch(matmul, product, matmul.chosen, product.out.data_ptr());
  if (code != cublaslt::kSuccess && product.sums == Sums::equal) {
    LOG("a product of {} x {} over {} is not served by the kernel that sums in order: trainer and "
        "engine will differ by rounding",
        product.out.size(0), product.out.size(1), product.depth);
    guess(matmul, product, 1), matmul.chosen = 0;
    code = launch(matmul, product, matmul.chosen, product.out.data_ptr());
  }
  TORCH_CHECK(code == cublaslt::kSuccess, "cuBLASLt fails with ", code, " at a product of ",
              product.out.sizes(), " over ", product.depth);
}

void Cublas::linear(const at::Tensor& out, const at::Tensor& x, const at::Tensor& weight,
                    const at::Tensor& bias) {
  run({.out = out,
       .first = weight,
       .second = x,
       .first_operation = cublaslt::kTransposed,
       .second_operation = cublaslt::kPlain,
       .depth = x.size(1),
       .bias = bias.defined() ? &bias : nullptr,
       .sums = sums_});
}

void Cublas::linear_onto(const at::Tensor& out, const at::Tensor& addend, const at::Tensor& x,
                         const at::Tensor& weight, double factor) {
  CHECK(addend.strides() == out.strides(), "the addend must lie as the result does");
  const int parts = parts_of(weight);
  const auto add = [&](const at::Tensor& onto, const at::Tensor& columns, const at::Tensor& of) {
    run({.out = out,
         .first = of,
         .second = columns,
         .first_operation = cublaslt::kTransposed,
         .second_operation = cublaslt::kPlain,
         .depth = columns.size(1),
         .addend = &onto,
         .factor = static_cast<float>(factor),
         .sums = sums_,
         .parts = parts});
  };
  if (parts == 1) return add(addend, x, weight);
  const std::int64_t depth = x.size(1) / parts;
  for (int part = 0; part < parts; ++part)
    add(part == 0 ? addend : out, x.narrow(1, part * depth, depth),
        weight.narrow(1, part * depth, depth));
}

int Cublas::linear_onto_in_parts(const at::Tensor& out, const at::Tensor& parts,
                                 const at::Tensor& x, const at::Tensor& weight, double factor) {
  const int count = parts_of(weight);
  if (count > 1 && x.size(0) > 0 && choice_ == KernelChoice::measure) {
    CHECK(parts.dim() == 3 && parts.size(0) >= count && parts.size(1) == x.size(0) &&
              parts.size(2) == weight.size(0),
          "parts of a sum need room");
    const std::int64_t depth = x.size(1) / count;
    const at::Tensor first = parts[0], columns = x.narrow(1, 0, depth),
                     weights = weight.narrow(1, 0, depth);
    for (const at::Tensor* matrix : {&first, &columns, &weights}) check_matrix(*matrix);
    const Product all = {.out = first,
                         .first = weights,
                         .second = columns,
                         .first_operation = cublaslt::kTransposed,
                         .second_operation = cublaslt::kPlain,
                         .depth = depth,
                         .factor = static_cast<float>(factor),
                         .sums = sums_,
                         .parts = count,
                         .part_step = parts.stride(0)};
    const Matmul& matmul = matmul_for(all);
    if (matmul.chosen >= 0 &&
        launch(matmul, all, matmul.chosen, first.data_ptr()) == cublaslt::kSuccess)
      return count;
  }
  linear_onto(out, out, x, weight, factor);
  return 0;
}

int Cublas::parts_of(const at::Tensor& weight) const {
  return sums_ == Sums::equal ? sum_parts(weight.size(0), weight.size(1)) : 1;
}

void Cublas::input_gradient(const at::Tensor& d_x, const at::Tensor& d_out,
                            const at::Tensor& weight) {
  run({.out = d_x,
       .first = weight,
       .second = d_out,
       .first_operation = cublaslt::kPlain,
       .second_operation = cublaslt::kPlain,
       .depth = d_out.size(1)});
}

void Cublas::add_weight_gradient(const at::Tensor& d_weight, const at::Tensor& d_out,
                                 const at::Tensor& x) {
  run({.out = d_weight,
       .first = x,
       .second = d_out,
       .first_operation = cublaslt::kPlain,
       .second_operation = cublaslt::kTransposed,
       .depth = x.size(0),
       .addend = &d_weight});
}

}  // namespace tritonsmith::model
