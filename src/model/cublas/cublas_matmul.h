// Declares the parts of Cublas, for its own sources: a requested product, and the cuBLASLt matmul
// that computes it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/cublas/cublas.h"
#include "model/cuda/cublaslt_api.h"

namespace tritonsmith::model {

cublaslt::DataType data_type_of(const at::Tensor& tensor);

// The library's functions, looked up when the first instance is made.
struct Cublas::Api {
  Api();
  cublaslt::Create* create;
  cublaslt::Destroy* destroy;
  cublaslt::Multiply* matmul;
  cublaslt::CreateDescription* make_desc;
  cublaslt::Destroy* destroy_desc;
  cublaslt::SetDescription* set_desc;
  cublaslt::CreateLayout* make_layout;
  cublaslt::SetLayout* set_layout;
  cublaslt::Destroy* destroy_layout;
  cublaslt::CreatePreference* make_preference;
  cublaslt::Destroy* destroy_preference;
  cublaslt::SetPreference* set_preference;
  cublaslt::FindAlgorithms* heuristic;
};

// A product out[rows, columns] = left · right in row-major terms. cuBLAS is column-major, so it
// computes the transpose right^T · left^T from the same memory.
struct Cublas::Product {
  const at::Tensor& out;
  const at::Tensor& first;   // cuBLAS's A, made of `right`
  const at::Tensor& second;  // cuBLAS's B, made of `left`
  cublaslt::Operation first_operation, second_operation;
  std::int64_t depth;
  const at::Tensor* addend = nullptr;
  const at::Tensor* bias = nullptr;
  float factor = 1;
  Sums sums = Sums::fast;
  // The number of parts of a sum. The product is one part. With a `part_step` it is all parts side
  // by side: each has `depth` columns of the operands, and their results lie `part_step` apart.
  int parts = 1;
  std::int64_t part_step = 0;

  bool is_in_parts() const { return part_step != 0; }
  Key key() const {
    return {out.size(0),
            out.size(1),
            depth,
            out.stride(0),
            first.stride(0),
            second.stride(0),
            first_operation,
            second_operation,
            data_type_of(out),
            data_type_of(first),
            addend == nullptr ? 0 : 1 + (addend->data_ptr() == out.data_ptr()),
            bias != nullptr,
            parts,
            part_step};
  }
  // Returns the same product for other rows, summed in place. For a sum in parts it returns the
  // first part, or the first part with the given weights.
  Product on(const at::Tensor& other_out, const at::Tensor& other_second) const {
    return on(other_out, other_second, first);
  }
  Product on(const at::Tensor& other_out, const at::Tensor& other_second,
             const at::Tensor& other_first) const {
    Product other = {.out = other_out,
                     .first = other_first,
                     .second = other_second,
                     .first_operation = first_operation,
                     .second_operation = second_operation,
                     .depth = depth,
                     .addend = addend != nullptr || is_in_parts() ? &other_out : nullptr,
                     .bias = bias,
                     .factor = factor,
                     .sums = sums,
                     .parts = parts};
    return other;
  }
  // Returns all parts of the sum for these rows.
  Product in_parts(const at::Tensor& first_part, const at::Tensor& rows, std::int64_t step) const {
    Product other = on(first_part, rows);
    other.addend = nullptr;
    other.part_step = step;
    return other;
  }
  // Identifies products whose bits must agree.
  Kind kind() const {
    return {out.device().index(),
            first.size(0),
            depth,
            data_type_of(out),
            data_type_of(first),
            addend != nullptr || is_in_parts(),
            bias != nullptr,
            parts};
  }
};

struct Cublas::Matmul {
  explicit Matmul(const Api& of) : api(of) {}
  ~Matmul() {
    if (description != nullptr) api.destroy_desc(description);
    for (const cublaslt::Layout layout : {first, second, out})
      if (layout != nullptr) api.destroy_layout(layout);
  }
  const Api& api;
  cublaslt::Description description = nullptr;
  cublaslt::Layout first = nullptr, second = nullptr, out = nullptr;
  // only the first suggestion until they are measured
  std::vector<cublaslt::HeuristicResult> candidates;
  int chosen = 0;  // -1: no kernel computes this product
  int uses = 0;
};

}  // namespace tritonsmith::model
