#include "model/cublas.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "model/cublaslt_api.h"

namespace tritonsmith::model {
namespace {

constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;
constexpr std::size_t kMostPlans = 4096;
// More uses than a batch of odd length brings: several passes through all layers.
constexpr int kFrequent = 300;
constexpr int kMostCandidates = 24;
// A kernel that sums in order is chosen at so many rows.
constexpr std::int64_t kMostRows = 4096, kFewestRows = 256;
constexpr std::int64_t kFewRows = 64;  // and tried at so few
constexpr std::int64_t kElementsInOrder = std::int64_t{1} << 25;
// More than any cache holds: in a model the weights come from memory.
constexpr std::int64_t kFlushBytes = std::int64_t{256} << 20;

template <typename Function>
Function* symbol(const char* name) {
  auto* found = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
  TORCH_CHECK(found != nullptr, "cuBLASLt has no ", name);
  return found;
}

cublaslt::DataType type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return cublaslt::kFloat32;
    case at::kHalf:
      return cublaslt::kFloat16;
    default:
      return cublaslt::kBFloat16;
  }
}

// Numbers between -1/2 and 1/2 without order, for trials: a function of the place alone.
at::Tensor pattern(at::IntArrayRef sizes, const at::TensorOptions& options) {
  const at::Tensor place = at::arange(c10::multiply_integers(sizes), options.dtype(at::kInt));
  const at::Tensor bits = place.mul_(1640531527).bitwise_right_shift_(13).bitwise_and_(0xffff);
  return bits.to(at::kFloat).div_(65536).sub_(0.5).to(options.dtype()).view(sizes);
}

void check_matrix(const at::Tensor& tensor) {
  CHECK(tensor.dim() == 2 && tensor.stride(1) == 1 && tensor.is_cuda(),
        "a product takes matrices of contiguous rows on a GPU");
}

}  // namespace

cuda::Stream current_stream(c10::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  return guard.getStreamNativeHandle(guard.getStream(device));
}

struct Cublas::Api {
  cublaslt::Create* create = symbol<cublaslt::Create>("cublasLtCreate");
  cublaslt::Destroy* destroy = symbol<cublaslt::Destroy>("cublasLtDestroy");
  cublaslt::Multiply* matmul = symbol<cublaslt::Multiply>("cublasLtMatmul");
  cublaslt::CreateDescription* make_desc =
      symbol<cublaslt::CreateDescription>("cublasLtMatmulDescCreate");
  cublaslt::Destroy* destroy_desc = symbol<cublaslt::Destroy>("cublasLtMatmulDescDestroy");
  cublaslt::SetDescription* set_desc =
      symbol<cublaslt::SetDescription>("cublasLtMatmulDescSetAttribute");
  cublaslt::CreateLayout* make_layout =
      symbol<cublaslt::CreateLayout>("cublasLtMatrixLayoutCreate");
  cublaslt::Destroy* destroy_layout = symbol<cublaslt::Destroy>("cublasLtMatrixLayoutDestroy");
  cublaslt::CreatePreference* make_preference =
      symbol<cublaslt::CreatePreference>("cublasLtMatmulPreferenceCreate");
  cublaslt::Destroy* destroy_preference =
      symbol<cublaslt::Destroy>("cublasLtMatmulPreferenceDestroy");
  cublaslt::SetPreference* set_preference =
      symbol<cublaslt::SetPreference>("cublasLtMatmulPreferenceSetAttribute");
  cublaslt::FindAlgorithms* heuristic =
      symbol<cublaslt::FindAlgorithms>("cublasLtMatmulAlgoGetHeuristic");
};

// In row-major terms out[rows, columns] = left · right; cuBLAS is column-major, so it computes the
// transpose, right^T · left^T, from the same memory.
struct Cublas::Product {
  const at::Tensor& out;
  const at::Tensor& first;   // cuBLAS's A: from right
  const at::Tensor& second;  // cuBLAS's B: from left
  cublaslt::Operation first_operation, second_operation;
  std::int64_t depth;
  const at::Tensor* addend = nullptr;
  const at::Tensor* bias = nullptr;
  float factor = 1;
  Sums sums = Sums::fast;

  Key key() const {
    return {out.size(0),
            out.size(1),
            depth,
            out.stride(0),
            first.stride(0),
            second.stride(0),
            first_operation,
            second_operation,
            type_of(out),
            type_of(first),
            addend == nullptr ? 0 : 1 + (addend->data_ptr() == out.data_ptr()),
            bias != nullptr};
  }
  // The same on other rows, summed in place.
  Product on(const at::Tensor& other_out, const at::Tensor& other_second) const {
    Product other = {.out = other_out,
                     .first = first,
                     .second = other_second,
                     .first_operation = first_operation,
                     .second_operation = second_operation,
                     .depth = depth,
                     .addend = addend == nullptr ? nullptr : &other_out,
                     .bias = bias,
                     .factor = factor,
                     .sums = sums};
    return other;
  }
  // Of products whose bits must agree.
  std::array<std::int64_t, 7> kind() const {
    return {out.device().index(), first.size(0),     depth,          type_of(out),
            type_of(first),       addend != nullptr, bias != nullptr};
  }
};

struct Cublas::Plan {
  explicit Plan(const Api& of) : api(of) {}
  ~Plan() {
    if (description != nullptr) api.destroy_desc(description);
    for (const cublaslt::Layout layout : {first, second, out})
      if (layout != nullptr) api.destroy_layout(layout);
  }
  const Api& api;
  cublaslt::Description description = nullptr;
  cublaslt::Layout first = nullptr, second = nullptr, out = nullptr;
  std::vector<cublaslt::HeuristicResult> candidates;  // the first guess, until measured
  int chosen = 0;
  int uses = 0;
};

// The kernels that give Sums::equal its bits, of all instances in this process.
struct Cublas::Known {
  std::mutex mutex;
  std::map<std::array<std::int64_t, 7>, cublaslt::HeuristicResult> kernels;

  static Known& instance() {
    static auto* known = new Known;  // never destroyed: CUDA may be gone by then
    return *known;
  }
};

// A candidate of a plan, writing somewhere.
struct Cublas::Trial {
  const Plan& plan;
  const Product& product;
  int candidate;
  void* out;
};

Cublas::Cublas(c10::Device device, KernelChoice choice, Sums sums)
    : device_(device), choice_(choice), sums_(sums) {
  static const Api api;
  api_ = &api;
  cublaslt::Handle handle = nullptr;
  TORCH_CHECK(api.create(&handle) == cublaslt::kSuccess, "cuBLASLt does not start");
  handle_ = handle;
  workspace_ = at::empty({kWorkspaceBytes}, at::TensorOptions(at::kByte).device(device));
}

Cublas::~Cublas() {
  plans_.clear();
  api_->destroy(handle_);
}

// Without candidates yet.
std::unique_ptr<Cublas::Plan> Cublas::make_plan(const Product& product) const {
  auto plan = std::make_unique<Plan>(*api_);
  int failures = api_->make_desc(&plan->description, cublaslt::kComputeFloat32, cublaslt::kFloat32);
  const auto set = [&](cublaslt::DescriptionAttribute attribute, auto value) {
    failures |= api_->set_desc(plan->description, attribute, static_cast<const void*>(&value),
                               sizeof value);
  };
  set(cublaslt::kFirstOperation, product.first_operation);
  set(cublaslt::kSecondOperation, product.second_operation);
  if (product.bias != nullptr) {
    set(cublaslt::kEpilogue, cublaslt::kAddBias);
    set(cublaslt::kBiasPointer, static_cast<const void*>(product.bias->data_ptr()));
  }
  const auto layout = [&](cublaslt::Layout* made, const at::Tensor& matrix) {
    failures |= api_->make_layout(made, type_of(matrix), static_cast<std::uint64_t>(matrix.size(1)),
                                  static_cast<std::uint64_t>(matrix.size(0)), matrix.stride(0));
  };
  layout(&plan->first, product.first);
  layout(&plan->second, product.second);
  layout(&plan->out, product.out);
  TORCH_CHECK(failures == 0, "cuBLASLt refuses a product");
  return plan;
}

Cublas::Plan& Cublas::plan_for(const Product& product) {
  auto& plan = plans_[product.key()];
  if (plan != nullptr) return *plan;
  plan = make_plan(product);
  if (product.sums == Sums::equal)
    choose_equal(*plan, product);
  else
    guess(*plan, product, 1);
  return *plan;
}

// Asks for up to so many kernels, the likeliest first.
void Cublas::guess(Plan& plan, const Product& product, int most) const {
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
  plan.candidates.resize(static_cast<std::size_t>(most));
  int found = 0;
  failures |= api_->heuristic(handle_, plan.description, plan.first, plan.second, plan.out,
                              plan.out, preference, most, plan.candidates.data(), &found);
  api_->destroy_preference(preference);
  TORCH_CHECK(failures == 0 && found > 0, "cuBLASLt has no kernel for a product of ",
              product.out.sizes(), " over ", product.depth);
  plan.candidates.resize(static_cast<std::size_t>(found));
}

void Cublas::measure(Plan& plan, const Product& product) const {
  guess(plan, product, kMostCandidates);
  if (plan.candidates.size() == 1) return;
  // On a copy: the product may add to what is there.
  const at::Tensor scratch =
      at::empty_strided(product.out.sizes(), product.out.strides(), product.out.options());
  const at::Tensor flush = at::empty({kFlushBytes}, workspace_.options());
  double best = 1e30;
  for (int i = 0; i < static_cast<int>(plan.candidates.size()); ++i) {
    const double ms = milliseconds_of({plan, product, i, scratch.data_ptr()}, flush);
    if (ms < best) best = ms, plan.chosen = i;
  }
}

// Takes any kernel that gives the bits of the one in order: the fastest where kernels are measured.
void Cublas::choose_equal(Plan& plan, const Product& product) const {
  Known& known = Known::instance();
  const std::lock_guard lock(known.mutex);
  auto found = known.kernels.find(product.kind());
  if (found == known.kernels.end()) {
    const auto in_order = make_plan(product);
    find_in_order(*in_order, product);
    found = known.kernels.emplace(product.kind(), in_order->candidates.front()).first;
  }
  plan.candidates = {found->second};
  if (choice_ != KernelChoice::measure) return;
  const at::Tensor x = pattern(product.second.sizes(), product.second.options());
  const at::Tensor addend = pattern(product.out.sizes(), product.out.options());
  const at::Tensor out =
      at::empty_strided(product.out.sizes(), product.out.strides(), product.out.options());
  const Product trial = product.on(out, x);
  const auto result_of = [&](int candidate) {
    out.copy_(addend);
    return launch(plan, trial, candidate, out.data_ptr()) == cublaslt::kSuccess;
  };
  if (!result_of(0)) return;  // run() says so
  const at::Tensor expected = out.clone();
  guess(plan, trial, kMostCandidates);
  plan.candidates.push_back(found->second);
  plan.chosen = static_cast<int>(plan.candidates.size()) - 1;
  const at::Tensor flush = at::empty({kFlushBytes}, workspace_.options());
  double best = 1e30;
  for (int i = 0; i < static_cast<int>(plan.candidates.size()); ++i) {
    if (!result_of(i) || !at::equal(out, expected)) continue;
    const double ms = milliseconds_of({plan, trial, i, out.data_ptr()}, flush);
    if (ms < best) best = ms, plan.chosen = i;
  }
}

// Kernels that give the same bits, and the fastest of them for many rows and for few.
struct Cublas::Likeness {
  at::Tensor rows;  // the first few, as they compute them
  int chosen = 0;   // of the candidates for many rows
  double many_ms = 1e30, few_ms = 1e30;
};

// Of the kernels for many rows that split no sum and whose bits do not depend on how many rows
// there are: the one whose bits cost least, with many rows and with as few as are decoded together.
void Cublas::find_in_order(Plan& found, const Product& product) const {
  const at::Tensor& weight = product.first;
  const std::int64_t widest = std::max(weight.size(0), weight.size(1));
  const std::int64_t rows =
      std::clamp(kElementsInOrder / widest / 128 * 128, kFewestRows, kMostRows);
  const at::Tensor x = pattern({rows, weight.size(1)}, product.second.options());
  const at::Tensor out = at::empty({rows, weight.size(0)}, product.out.options());
  const Product many = product.on(out, x);
  const auto plan = make_plan(many);
  guess(*plan, many, kMostCandidates);
  const at::Tensor flush = at::empty({kFlushBytes}, workspace_.options());
  std::vector<Likeness> likenesses;
  for (int i = 0; i < static_cast<int>(plan->candidates.size()); ++i) {
    if (!is_invariant(many, *plan, i)) continue;
    const at::Tensor few = out.narrow(0, 0, kFewRows).clone();
    auto like = std::ranges::find_if(
        likenesses, [&](const Likeness& each) { return at::equal(each.rows, few); });
    if (like == likenesses.end())
      like = likenesses.insert(like, Likeness{.rows = few, .chosen = i});
    const double ms = milliseconds_of({*plan, many, i, out.data_ptr()}, flush);
    if (ms < like->many_ms) like->many_ms = ms, like->chosen = i;
  }
  if (likenesses.empty())
    LOG("no kernel for products of {} x {} sums in one order: trainer and engine will differ by "
        "rounding",
        weight.size(0), weight.size(1));
  const int chosen = likenesses.empty() ? 0 : cheapest(likenesses, many);
  found.candidates = {plan->candidates[static_cast<std::size_t>(chosen)]};
}

// Tries what there is for few rows, and weighs both: where nothing fast gives a likeness its bits,
// decoding would take its kernel for many rows, which is several times slower.
int Cublas::cheapest(std::vector<Likeness>& likenesses, const Product& many) const {
  const at::Tensor addend = pattern(many.out.sizes(), many.out.options()).narrow(0, 0, kFewRows);
  const at::Tensor out = addend.clone(), x = many.second.narrow(0, 0, kFewRows);
  const Product few = many.on(out, x);
  const auto plan = make_plan(few);
  guess(*plan, few, kMostCandidates);
  const at::Tensor flush = at::empty({kFlushBytes}, workspace_.options());
  for (int i = 0; i < static_cast<int>(plan->candidates.size()); ++i) {
    out.copy_(addend);
    if (launch(*plan, few, i, out.data_ptr()) != cublaslt::kSuccess) continue;
    const auto like = std::ranges::find_if(
        likenesses, [&](const Likeness& each) { return at::equal(each.rows, out); });
    if (like == likenesses.end()) continue;
    like->few_ms = std::min(like->few_ms, milliseconds_of({*plan, few, i, out.data_ptr()}, flush));
  }
  const double many_ms = std::ranges::min(likenesses, {}, &Likeness::many_ms).many_ms;
  const double few_ms = std::ranges::min(likenesses, {}, &Likeness::few_ms).few_ms;
  constexpr double kNoneForFew = 4;  // times slower
  const auto cost = [&](const Likeness& each) {
    return each.many_ms / many_ms + std::min(each.few_ms / few_ms, kNoneForFew);
  };
  return std::ranges::min(likenesses, {}, cost).chosen;
}

// Whether a candidate gives the first few rows alone the bits that it gives them among all.
bool Cublas::is_invariant(const Product& whole, const Plan& plan, int candidate) const {
  const at::Tensor addend = pattern(whole.out.sizes(), whole.out.options());
  whole.out.copy_(addend);
  if (launch(plan, whole, candidate, whole.out.data_ptr()) != cublaslt::kSuccess) return false;
  for (const std::int64_t rows : {1, 40, 64, 200}) {
    const at::Tensor out = addend.narrow(0, 0, rows).clone();
    const at::Tensor x = whole.second.narrow(0, 0, rows);
    const Product part = whole.on(out, x);
    const auto few = make_plan(part);
    few->candidates = {plan.candidates[static_cast<std::size_t>(candidate)]};
    if (launch(*few, part, 0, out.data_ptr()) != cublaslt::kSuccess ||
        !at::equal(out, whole.out.narrow(0, 0, rows)))
      return false;
  }
  return true;
}

// The median of several runs, each with a cold cache; a large number where the kernel refuses.
double Cublas::milliseconds_of(const Trial& trial, const at::Tensor& flush) const {
  const cuda::Runtime& runtime = cuda::kernels()->runtime;
  const cuda::Stream stream = current_stream(device_);
  constexpr int kRuns = 7;
  void* events[2] = {};
  int failures = runtime.make_event(&events[0]) | runtime.make_event(&events[1]);
  std::vector<float> runs;
  for (int i = 0; i < kRuns && failures == 0; ++i) {
    flush.zero_();
    failures |= runtime.record_event(events[0], stream);
    failures |= launch(trial.plan, trial.product, trial.candidate, trial.out);
    failures |= runtime.record_event(events[1], stream) | runtime.wait_event(events[1]);
    failures |= runtime.elapsed_ms(events[0], events[1], &runs.emplace_back());
  }
  for (void* event : events) runtime.destroy_event(event);
  std::ranges::sort(runs);
  return failures == 0 ? static_cast<double>(runs[kRuns / 2]) : 1e30;
}

int Cublas::launch(const Plan& plan, const Product& product, int candidate, void* out) const {
  const float beta = product.addend != nullptr ? 1.0f : 0.0f;
  // An in-place sum stays in place when it is measured on a copy.
  const bool in_place =
      product.addend == nullptr || product.addend->data_ptr() == product.out.data_ptr();
  return api_->matmul(
      handle_, plan.description, &product.factor, product.first.data_ptr(), plan.first,
      product.second.data_ptr(), plan.second, &beta, in_place ? out : product.addend->data_ptr(),
      plan.out, out, plan.out, &plan.candidates[static_cast<std::size_t>(candidate)].algorithm,
      workspace_.data_ptr(), static_cast<std::size_t>(kWorkspaceBytes), current_stream(device_));
}

void Cublas::run(const Product& product) {
  for (const at::Tensor* matrix : {&product.out, &product.first, &product.second})
    check_matrix(*matrix);
  CHECK(product.first.scalar_type() == product.second.scalar_type(),
        "the operands of a product have one type");
  if (product.out.numel() == 0) return;
  if (plans_.size() > kMostPlans) plans_.clear();
  Plan& plan = plan_for(product);
  if (product.bias != nullptr) {
    const void* bias = product.bias->data_ptr();
    api_->set_desc(plan.description, cublaslt::kBiasPointer, static_cast<const void*>(&bias),
                   sizeof bias);
  }
  const int due = choice_ == KernelChoice::measure ? 1 : kFrequent;
  if (product.sums == Sums::fast && choice_ != KernelChoice::guess && ++plan.uses == due)
    measure(plan, product);
  int code = launch(plan, product, plan.chosen, product.out.data_ptr());
  if (code != cublaslt::kSuccess && product.sums == Sums::equal) {
    LOG("a product of {} x {} over {} is not served by the kernel that sums in order: trainer and "
        "engine will differ by rounding",
        product.out.size(0), product.out.size(1), product.depth);
    guess(plan, product, 1), plan.chosen = 0;
    code = launch(plan, product, plan.chosen, product.out.data_ptr());
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
  run({.out = out,
       .first = weight,
       .second = x,
       .first_operation = cublaslt::kTransposed,
       .second_operation = cublaslt::kPlain,
       .depth = x.size(1),
       .addend = &addend,
       .factor = static_cast<float>(factor),
       .sums = sums_});
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
