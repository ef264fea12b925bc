// Multiplies matrices on a GPU through cuBLASLt. The products offer three things that LibTorch's
// calls do not: float32 sums of 16-bit operands, addition to an existing matrix, and results in
// parts of wider rows. The library is the one that LibTorch has loaded. All work runs on the
// current stream. A Cublas serves one stream at a time; it keeps its workspace and its chosen
// kernel for each shape. It fails with LibTorch's exception, which the callers of training and
// decoding catch.
//
// Tensors are 2-d; the elements of a row are contiguous, and rows may lie apart. The operands of a
// product (x, weight, d_out) are both bfloat16 or both float16.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "model/config/sums.h"
#include "model/cuda/cublaslt_api.h"
#include "model/cuda/kernels.h"

namespace tritonsmith::model {

// Returns the stream on which LibTorch enqueues this thread's work.
cuda::Stream current_stream(c10::Device device);

// The choice of a kernel for a shape. guess: cuBLASLt's first suggestion. measure: the fastest
// suggestion, measured at the first use of the shape. measure_if_frequent: the first suggestion,
// and the fastest one after many uses of the shape. In a training step all layers have the same
// shape, but packed batches differ from step to step.
enum class KernelChoice { guess, measure, measure_if_frequent };

// With Sums::equal, all forward products (linear, linear_onto) with weights of one shape have the
// same bits. A reference kernel for each weight shape, chosen once in a process, defines these
// bits. That kernel splits no sum and gives a row the same bits beside any other rows. A trial
// confirms this. If kernels are measured, any other kernel that gives these bits may run. Otherwise
// the reference kernel runs. For a deep and narrow weight, linear_onto adds such sums in fixed
// parts (sum_parts).
class Cublas {
 public:
  Cublas(c10::Device device, KernelChoice choice, Sums sums = Sums::fast);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // The memory of an instance in bytes, and the most additional memory that choosing kernels takes.
  // The latter holds for products of at most `rows` rows and weights with at most `widest` rows or
  // columns.
  static std::int64_t workspace_bytes();
  static std::int64_t trial_bytes(Sums sums, std::int64_t rows, std::int64_t widest);

  // out = x · weight^T (+ bias): [T, O] from [T, K] and [O, K]. `out` has the operands' type or,
  // without bias, float32.
  void linear(const at::Tensor& out, const at::Tensor& x, const at::Tensor& weight,
              const at::Tensor& bias = {});
  // out = addend + factor x · weight^T. Both are float32 and may be the same tensor.
  void linear_onto(const at::Tensor& out, const at::Tensor& addend, const at::Tensor& x,
                   const at::Tensor& weight, double factor = 1);
  // Works like linear_onto in place, but may leave the addition to the next reader of `out`. It
  // then writes parts of the sum to `parts` ([at least kMostSumParts, T, O] float32) and returns
  // their number. The reader adds them to `out` one after the other and gets linear_onto's bits. A
  // return of 0 means that the sum is added already. Equal shapes give equal numbers.
  int linear_onto_in_parts(const at::Tensor& out, const at::Tensor& parts, const at::Tensor& x,
                           const at::Tensor& weight, double factor = 1);
  // d_x = d_out · weight: [T, K] of the operands' type or float32.
  void input_gradient(const at::Tensor& d_x, const at::Tensor& d_out, const at::Tensor& weight);
  // d_weight += d_out^T · x: [O, K] float32.
  void add_weight_gradient(const at::Tensor& d_weight, const at::Tensor& d_out,
                           const at::Tensor& x);

 private:
  struct Api;
  struct Matmul;
  struct Product;
  struct Trial;
  struct Known;
  struct Likeness;
  using Key = std::array<std::int64_t, 14>;
  using Kind = std::array<std::int64_t, 8>;
  std::unique_ptr<Matmul> make_matmul(const Product& product) const;
  Matmul& matmul_for(const Product& product);
  void guess(Matmul& matmul, const Product& product, int most) const;
  void measure(Matmul& matmul, const Product& product) const;
  void choose_equal(Matmul& matmul, const Product& product) const;
  bool add_in_order(const Product& product, const at::Tensor& out, const at::Tensor& x) const;
  cublaslt::HeuristicResult kernel_in_order(const Product& product) const;
  cublaslt::HeuristicResult find_in_order(const Product& product) const;
  int cheapest(std::vector<Likeness>& likenesses, const Product& many) const;
  bool is_invariant(const Product& whole, const Matmul& matmul, int candidate) const;
  void run(const Product& product);
  int parts_of(const at::Tensor& weight) const;
  int launch(const Matmul& matmul, const Product& product, int candidate, void* out) const;
  double milliseconds_of(const Trial& trial, const at::Tensor& flush) const;

  c10::Device device_;
  KernelChoice choice_;
  Sums sums_;
  const Api* api_;
  void* handle_ = nullptr;
  at::Tensor workspace_;
  std::map<Key, std::unique_ptr<Matmul>> matmuls_;
};

}  // namespace tritonsmith::model
