// Declares the part of cuBLASLt's C interface that cublas.cc calls. The wheel with the library has
// headers that do not compile without a CUDA toolkit. NVIDIA promises a stable interface within a
// major version. With a toolkit, cuda/cublaslt_check.cu compares these declarations with the
// original.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tritonsmith::model::cublaslt {

// Opaque handles.
using Handle = void*;
using Description = void*;
using Layout = void*;
using Preference = void*;
using Stream = void*;

using Status = int;  // 0 is success
inline constexpr Status kSuccess = 0;

enum DataType : int { kFloat32 = 0, kFloat16 = 2, kBFloat16 = 14 };
enum ComputeType : int { kComputeFloat32 = 68 };
enum Operation : int { kPlain = 0, kTransposed = 1 };
enum Epilogue : std::uint32_t { kAddBias = 4 };
enum DescriptionAttribute : int {
  kFirstOperation = 3,
  kSecondOperation = 4,
  kEpilogue = 7,
  kBiasPointer = 8
};
enum LayoutAttribute : int { kBatchCount = 5, kBatchOffset = 6 };  // int32, int64 (in elements)
inline constexpr std::uint32_t kNoReduction = 0;  // value of kReductionSchemes: no sum is split
enum PreferenceAttribute : int {
  kMostWorkspaceBytes = 1,
  kReductionSchemes = 3,
  kAlignmentOfFirst = 5,
  kAlignmentOfSecond = 6,
  kAlignmentOfAddend = 7,
  kAlignmentOfOut = 8
};

struct Algorithm {
  std::uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  Status status;
  float waves;
  int reserved[4];
};

using Create = Status(Handle*);
using Destroy = Status(void*);  // for a handle, description, layout or preference
using CreateDescription = Status(Description*, ComputeType, DataType scale);
using SetDescription = Status(Description, DescriptionAttribute, const void*, std::size_t bytes);
using CreateLayout = Status(Layout*, DataType, std::uint64_t rows, std::uint64_t columns,
                            std::int64_t leading);
using SetLayout = Status(Layout, LayoutAttribute, const void*, std::size_t bytes);
using CreatePreference = Status(Preference*);
using SetPreference = Status(Preference, PreferenceAttribute, const void*, std::size_t bytes);
using FindAlgorithms = Status(Handle, Description, Layout first, Layout second, Layout addend,
                              Layout out, Preference, int most, HeuristicResult*, int* found);
// out = alpha · first · second + beta · addend
using Multiply = Status(Handle, Description, const void* alpha, const void* first, Layout,
                        const void* second, Layout, const void* beta, const void* addend, Layout,
                        void* out, Layout, const Algorithm*, void* workspace, std::size_t bytes,
                        Stream);

}  // namespace tritonsmith::model::cublaslt
