// Has no effect at run time. It compares model/cuda/cublaslt_api.h with the toolkit's own header, if
// there is one.
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#include <cstddef>

#include "model/cuda/cublaslt_api.h"

namespace tritonsmith::model::cublaslt {

static_assert(int{kSuccess} == CUBLAS_STATUS_SUCCESS);
static_assert(int{kFloat32} == CUDA_R_32F && int{kFloat16} == CUDA_R_16F);
static_assert(int{kBFloat16} == CUDA_R_16BF);
static_assert(int{kComputeFloat32} == CUBLAS_COMPUTE_32F);
static_assert(int{kPlain} == CUBLAS_OP_N && int{kTransposed} == CUBLAS_OP_T);
static_assert(static_cast<int>(kAddBias) == CUBLASLT_EPILOGUE_BIAS);
static_assert(sizeof(Operation) == sizeof(cublasOperation_t));
static_assert(sizeof(Epilogue) == sizeof(cublasLtEpilogue_t));
static_assert(int{kFirstOperation} == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(int{kSecondOperation} == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int{kEpilogue} == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(int{kBiasPointer} == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(int{kBatchCount} == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(int{kBatchOffset} == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(int{kMostWorkspaceBytes} == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(int{kReductionSchemes} == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(kNoReduction == CUBLASLT_REDUCTION_SCHEME_NONE);
static_assert(int{kAlignmentOfFirst} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(int{kAlignmentOfSecond} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(int{kAlignmentOfAddend} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(int{kAlignmentOfOut} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(HeuristicResult, status) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));

}  // namespace tritonsmith::model::cublaslt
#endif
