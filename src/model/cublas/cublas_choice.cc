// The choice of the kernel for a product: the fastest of the measured kernels. With Sums::equal it
// is the fastest of those with the right bits.
#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/log.h"
#include "model/cublas/cublas_matmul.h"

namespace tritonsmith::model {
namespace {

constexpr int kMostCandidates = 24;
// Limits for the number of rows at which the reference kernel for equal sums is chosen.
constexpr std::int64_t kMostRows = 4096, kFewestRows = 256;
constexpr std::int64_t kFewRows = 64;  // the number of rows of the trial with few rows
constexpr std::int64_t kElementsInOrder = std::int64_t{1} << 25;
// More than any cache holds. In a model the weights come from memory, not from a cache.
constexpr std::int64_t kFlushBytes = std::int64_t{256} << 20;

// Returns irregular numbers between -1/2 and 1/2 for trials. A number depends on its position
// alone.
at::Tensor pattern(at::IntArrayRef sizes, const at::TensorOptions& options) {
  const at::Tensor index = at::arange(c10::multiply_integers(sizes), options.dtype(at::kInt));
  const at::Tensor bits = index.mul_(1640531527).bitwise_right_shift_(13).bitwise_and_(0xffff);
  return bits.to(at::kFloat).div_(65536).sub_(0.5).to(options.dtype()).view(sizes);
}

// Returns the same columns at a later offset of the wider matrix.
at::Tensor moved(const at::Tensor& matrix, std::int64_t columns) {
  return matrix.as_strided(matrix.sizes(), matrix.strides(), matrix.storage_offset() + columns);
}

}  // namespace

// The kernels that define the bits of Sums::equal, shared by all instances of this process.
struct Cublas::Known {
  std::mutex mutex;
  std::map<Kind, cublaslt::HeuristicResult> kernels;

  static Known& instance() {
    static auto* known = new Known;  // never destroyed, because CUDA may end first
    return *known;
  }
};

// The memory of a trial besides the flush buffer. With fast sums it is a copy of the result. With
// equal sums it is the larger of two cases, plus the first rows of a few likenesses. choose_equal()
// takes four tensors of the result's size, and one while it makes a pattern. find_in_order() takes
// a result, an addend and a pattern for its own number of rows.
std::int64_t Cublas::trial_bytes(Sums sums, std::int64_t rows, std::int64_t widest) {
  constexpr std::int64_t kLikenesses = 8;
  if (sums == Sums::fast) return kFlushBytes + 4 * rows * widest;
  const std::int64_t in_order = std::max(kElementsInOrder, kFewestRows * widest);
  return kFlushBytes + std::max(20 * rows * widest, 14 * in_order) +
         kLikenesses * kFewRows * 4 * widest;
}

// A candidate of a matmul, and the memory of its result.
struct Cublas::Trial {
  const Matmul& matmul;
  const Product& product;
  int candidate;
  void* out;
};

void Cublas::measure(Matmul& matmul, const Product& product) const {
  guess(matmul, product, kMostCandidates);
  if (matmul.candidates.size() == 1) return;
  // The trial runs on a copy, because the product may add to existing values.
  const at::Tensor scratch =
      at::empty_strided(product.out.sizes(), product.out.strides(), product.out.options());
  const at::Tensor flush = at::empty({kFlushBytes}, workspace_.options());
  double best = 1e30;
  for (int i = 0; i < static_cast<int>(matmul.candidates.size()); ++i) {
    const double ms = milliseconds_of({matmul, product, i, scratch.data_ptr()}, flush);
    if (ms < best) best = ms, matmul.chosen = i;
  }
}

// Returns the reference kernel for products of this kind.
cublaslt::HeuristicResult Cublas::kernel_in_order(const Product& product) const {
  Known& known = Known::instance();
  const std::lock_guard lock(known.mutex);
  const auto found = known.kernels.find(product.kind());
  if (found != known.kernels.end()) return found->second;
  return known.kernels[product.kind()] = find_in_order(product);
}

// out += x · weight^T with that kernel, part after part if the sum has several.
bool Cublas::add_in_order(const Product& product, const at::Tensor& out,
                          const at::Tensor& x) const {
  const int parts = product.is_in_parts() ? product.parts : 1;
  for (int part = 0; part < parts; ++part) {
    const at::Tensor rows = moved(x, part * product.depth);
    const at::Tensor weight = moved(product.first, part * product.depth);
    const Product each = product.on(out, rows, weight);
    const auto matmul = make_matmul(each);
    matmul->candidates = {kernel_in_order(product)};
    if (launch(*matmul, each, 0, out.data_ptr()) != cublaslt::kSuccess) return false;
  }
  return true;
}

// Takes any kernel with the bits of the reference kernel; if kernels are measured, the fastest. The
// reference kernel itself may not support several parts side by side.
void Cublas::choose_equal(Matmul& matmul, const Product& product) const {
  const cublaslt::HeuristicResult in_order = kernel_in_order(product);
  matmul.candidates = {in_order};
  matmul.chosen = product.is_in_parts() ? -1 : 0;
  if (choice_ != KernelChoice::measure) return;
  const at::Tensor& like = product.out;
  const at::Tensor x =
      pattern({product.second.size(0), product.second.stride(0)}, product.second.options())
          .narrow(1, 0, product.depth);
  const at::Tensor addend = pattern(like.sizes(), like.options());
  const at::Tensor out = at::empty_strided(like.sizes(), like.strides(), like.options());
  const at::Tensor expected = out.clone().copy_(addend);
  if (!add_in_order(product, expected, x)) return;  // run() reports the failure
  const at::Tensor parts =
      at::empty_strided({product.parts, like.size(0), like.size(1)},
                        {product.part_step, like.stride(0), 1}, like.options());
  const at::Tensor first_part = parts[0];
  const Product trial = product.is_in_parts() ? product.in_parts(first_part, x, product.part_step)
                                              : product.on(out, x);
  const auto has_the_bits = [&](int candidate) {
    out.copy_(addend);
    if (launch(matmul, trial, candidate, trial.out.data_ptr()) != cublaslt::kSuccess) return false;
    for (int part = 0; part < product.parts && product.is_in_parts(); ++part) out.add_(parts[part]);
    return at::equal(out, expected);
  };
  guess(matmul, trial, kMostCandidates);
  matmul.candidates.push_back(in_order);
  if (!product.is_in_parts()) matmul.chosen = static_cast<int>(matmul.candidates.size()) - 1;
  const at::Tensor flush = at::empty({kFlushBytes}, workspace_.options());
  double best = 1e30;
  for (int i = 0; i < static_cast<int>(matmul.candidates.size()); ++i) {
    if (!has_the_bits(i)) continue;
    const double ms = milliseconds_of({matmul, trial, i, trial.out.data_ptr()}, flush);
    if (ms < best) best = ms, matmul.chosen = i;
  }
}

// Kernels with the same bits, and the fastest of them for many rows and for few.
struct Cublas::Likeness {
  at::Tensor rows;  // their result for the first rows
  int chosen = 0;   // index among the candidates for many rows
  double many_ms = 1e30, few_ms = 1e30;
};

// Finds the reference kernel among the kernels for many rows. Candidates split no sum, and their
// bits do not depend on the number of rows. Of these it takes the kernel whose bits cost least with
// many rows and with the few rows of decoding.
cublaslt::HeuristicResult Cublas::find_in_order(const Product& product) const {
  const at::Tensor& weight = product.first;
  const std::int64_t width = product.depth * product.parts;  // over all parts of the sum
  const std::int64_t widest = std::max(weight.size(0), width);
  const std::int64_t rows =
      std::clamp(kElementsInOrder / widest / 128 * 128, kFewestRows, kMostRows);
  const at::Tensor x = pattern({rows, width}, product.second.options()).narrow(1, 0, product.depth);
  const at::Tensor out = at::empty({rows, weight.size(0)}, product.out.options());
  const Product many = product.on(out, x);
  const auto matmul = make_matmul(many);
  guess(*matmul, many, kMostCandidates);
  const at::Tensor flush = at::empty({kFlushBytes}, workspace_.options());
  std::vector<Likeness> likenesses;
  for (int i = 0; i < static_cast<int>(matmul->candidates.size()); ++i) {
    if (!is_invariant(many, *matmul, i)) continue;
    const at::Tensor few = out.narrow(0, 0, kFewRows).clone();
    auto like = std::ranges::find_if(
        likenesses, [&](const Likeness& each) { return at::equal(each.rows, few); });
    if (like == likenesses.end())
      like = likenesses.insert(like, Likeness{.rows = few, .chosen = i});
    const double ms = milliseconds_of({*matmul, many, i, out.data_ptr()}, flush);
    if (ms < like->many_ms) like->many_ms = ms, like->chosen = i;
  }
  if (likenesses.empty())
    LOG("no kernel for products of {} x {} sums in one order: trainer and engine will differ by "
        "rounding",
        weight.size(0), product.depth);
  const int chosen = likenesses.empty() ? 0 : cheapest(likenesses, many);
  return matmul->candidates[static_cast<std::size_t>(chosen)];
}

// Tries the kernels for few rows, with all parts of a sum side by side, and weighs both speeds. If
// no fast kernel for few rows has a likeness's bits, decoding must use the kernel for many rows.
// That one is several times slower.
int Cublas::cheapest(std::vector<Likeness>& likenesses, const Product& many) const {
  const at::Tensor addend = pattern(many.out.sizes(), many.out.options()).narrow(0, 0, kFewRows);
  const at::Tensor out = addend.clone(), x = many.second.narrow(0, 0, kFewRows);
  const at::Tensor parts = at::empty({many.parts, kFewRows, out.size(1)}, out.options());
  const at::Tensor first_part = parts[0];
  const bool in_parts = many.parts > 1;
  const Product few = in_parts ? many.in_parts(first_part, x, parts.stride(0)) : many.on(out, x);
  const auto matmul = make_matmul(few);
  guess(*matmul, few, kMostCandidates);
  const at::Tensor flush = at::empty({kFlushBytes}, workspace_.options());
  for (int i = 0; i < static_cast<int>(matmul->candidates.size()); ++i) {
    out.copy_(addend);
    if (launch(*matmul, few, i, few.out.data_ptr()) != cublaslt::kSuccess) continue;
    if (in_parts) out.add_(first_part);
    const auto like = std::ranges::find_if(
        likenesses, [&](const Likeness& each) { return at::equal(each.rows, out); });
    if (like == likenesses.end()) continue;
    like->few_ms =
        std::min(like->few_ms, milliseconds_of({*matmul, few, i, few.out.data_ptr()}, flush));
  }
  const double many_ms = std::ranges::min(likenesses, {}, &Likeness::many_ms).many_ms;
  const double few_ms = std::ranges::min(likenesses, {}, &Likeness::few_ms).few_ms;
  constexpr double kNoneForFew = 4;  // times slower
  const auto cost = [&](const Likeness& each) {
    return each.many_ms / many_ms + std::min(each.few_ms / few_ms, kNoneForFew);
  };
  return std::ranges::min(likenesses, {}, cost).chosen;
}

// Tells whether a candidate gives the first rows the same bits alone as among all rows.
bool Cublas::is_invariant(const Product& whole, const Matmul& matmul, int candidate) const {
  const at::Tensor addend = pattern(whole.out.sizes(), whole.out.options());
  whole.out.copy_(addend);
  if (launch(matmul, whole, candidate, whole.out.data_ptr()) != cublaslt::kSuccess) return false;
  for (const std::int64_t rows : {1, 40, 64, 200}) {
    const at::Tensor out = addend.narrow(0, 0, rows).clone();
    const at::Tensor x = whole.second.narrow(0, 0, rows);
    const Product part = whole.on(out, x);
    const auto few = make_matmul(part);
    few->candidates = {matmul.candidates[static_cast<std::size_t>(candidate)]};
    if (launch(*few, part, 0, out.data_ptr()) != cublaslt::kSuccess ||
        !at::equal(out, whole.out.narrow(0, 0, rows)))
      return false;
  }
  return true;
}

// Returns the median of several runs, each with a cold cache. Returns a large number if the kernel
// refuses.
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
    failures |= launch(trial.matmul, trial.product, trial.candidate, trial.out);
    failures |= runtime.record_event(events[1], stream) | runtime.wait_event(events[1]);
    failures |= runtime.elapsed_ms(events[0], events[1], &runs.emplace_back());
  }
  for (void* event : events) runtime.destroy_event(event);
  std::ranges::sort(runs);
  return failures == 0 ? static_cast<double>(runs[kRuns / 2]) : 1e30;
}

}  // namespace tritonsmith::model
