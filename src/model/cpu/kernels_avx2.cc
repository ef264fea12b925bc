// The kernels for one level of x86-64; CMakeLists.txt gives this file its flags.
#define TRITONSMITH_LEVEL avx2
#define TRITONSMITH_VECTOR_BYTES 32
#define TRITONSMITH_TILE_ROWS 6
#include "model/cpu/kernels.inc"
