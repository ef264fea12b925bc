// The kernels for one level of x86-64; CMakeLists.txt gives this file its flags.
#define TRITONSMITH_LEVEL avx512
#define TRITONSMITH_VECTOR_BYTES 64
#define TRITONSMITH_TILE_ROWS 8
#include "model/cpu/kernels.inc"
