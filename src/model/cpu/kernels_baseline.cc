// The kernels for one level of x86-64; CMakeLists.txt gives this file its flags.
#define TRITONSMITH_LEVEL baseline
#define TRITONSMITH_VECTOR_BYTES 16
#define TRITONSMITH_TILE_ROWS 4
#include "model/cpu/kernels.inc"
