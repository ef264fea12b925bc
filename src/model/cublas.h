// Matrix products on a GPU through cuBLASLt, for what LibTorch's own calls do not offer: float32
// results and sums of 16-bit operands, added to what is there, and products into parts of wider
// rows. The library is the one that LibTorch's CUDA half has loaded. All on the current stream. A
// Cublas serves one stream at a time and keeps its workspace and its choice of kernel for each
// shape. Fails as LibTorch does, by its exception, which the seams around training and decoding
// catch.
//
// Tensors are 2-d with contiguous rows (which may lie apart); the operands of a product (x, weight,
// d_out) are both bfloat16 or both float16.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "model/cublaslt_api.h"
#include "model/cuda/kernels.h"
#include "model/sums.h"

namespace tritonsmith::model {

// The stream that LibTorch puts work of this thread on.
cuda::Stream current_stream(c10::Device device);

// How the kernel for a shape is chosen: cuBLASLt's first guess; the fastest of its guesses,
// measured when the shape is first used; or the guess until a shape has come back often, then by
// measuring (a training step has the same shape in every layer, but packed batches differ from step
// to step).
enum class KernelChoice { guess, measure, measure_if_frequent };

// With Sums::equal the forward products (linear, linear_onto) of one shape of weights all have the
// bits that one kernel of that shape gives, chosen once in a process: it splits no sum, and gives a
// row the same bits whatever other rows there are, which is tried. Where kernels are measured, any
// other that gives these bits may serve; elsewhere that one does. linear_onto adds such sums in
// fixed parts, where the weight is deep and narrow (sum_parts).
class Cublas {
 public:
  Cublas(c10::Device device, KernelChoice choice, Sums sums = Sums::fast);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // What an instance holds, and the most that choosing kernels takes besides while it lasts, for
  // products of at most so many rows, whose weights have at most so many rows or columns.
  static std::int64_t workspace_bytes();
  static std::int64_t trial_bytes(Sums sums, std::int64_t rows, std::int64_t widest);

  // out = x · weight^T (+ bias): [T, O] of [T, K] and [O, K]; out has their type or, without
  // bias, float32.
  void linear(const at::Tensor& out, const at::Tensor& x, const at::Tensor& weight,
              const at::Tensor& bias = {});
  // out = addend + factor x · weight^T, both float32 and perhaps the same.
  void linear_onto(const at::Tensor& out, const at::Tensor& addend, const at::Tensor& x,
                   const at::Tensor& weight, double factor = 1);
  // linear_onto in place that may leave the addition to whoever reads `out` next: returns how many
  // of `parts` ([at least kMostSumParts, T, O] float32) it has written, which are to be added to
  // `out` one after the other for linear_onto's bits; or 0, and has added. The same for the same
  // shapes.
  int linear_onto_in_parts(const at::Tensor& out, const at::Tensor& parts, const at::Tensor& x,
                           const at::Tensor& weight, double factor = 1);
  // d_x = d_out · weight: [T, K] of their type or float32.
  void input_gradient(const at::Tensor& d_x, const at::Tensor& d_out, const at::Tensor& weight);
  // d_weight += d_out^T · x: [O, K] float32.
  void add_weight_gradient(const at::Tensor& d_weight, const at::Tensor& d_out,
                           const at::Tensor& x);

 private:
  struct Api;
  struct Plan;
  struct Product;
  struct Trial;
  struct Known;
  struct Likeness;
  using Key = std::array<std::int64_t, 14>;
  using Kind = std::array<std::int64_t, 8>;
  std::unique_ptr<Plan> make_plan(const Product& product) const;
  Plan& plan_for(const Product& product);
  void guess(Plan& plan, const Product& product, int most) const;
  void measure(Plan& plan, const Product& product) const;
  void choose_equal(Plan& plan, const Product& product) const;
  bool add_in_order(const Product& product, const at::Tensor& out, const at::Tensor& x) const;
  cublaslt::HeuristicResult kernel_in_order(const Product& product) const;
  cublaslt::HeuristicResult find_in_order(const Product& product) const;
  int cheapest(std::vector<Likeness>& likenesses, const Product& many) const;
  bool is_invariant(const Product& whole, const Plan& plan, int candidate) const;
  void run(const Product& product);
  int parts_of(const at::Tensor& weight) const;
  int launch(const Plan& plan, const Product& product, int candidate, void* out) const;
  double milliseconds_of(const Trial& trial, const at::Tensor& flush) const;

  c10::Device device_;
  KernelChoice choice_;
  Sums sums_;
  const Api* api_;
  void* handle_ = nullptr;
  at::Tensor workspace_;
  std::map<Key, std::unique_ptr<Plan>> plans_;
};

}  // namespace tritonsmith::model
