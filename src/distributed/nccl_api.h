// Declares the part of NCCL's C interface that nccl.cc calls. NCCL's own header includes CUDA's
// headers, which a machine without a toolkit lacks. NVIDIA keeps these functions and numbers within
// a major version. nccl_test.cc compares them with the wheel's header.
#pragma once

#include <cstddef>

namespace tritonsmith::distributed::nccl {

using Communicator = void*;
using Stream = void*;
using Code = int;
inline constexpr Code kSuccess = 0;
inline constexpr Code kInProgress = 7;

enum DataType : int { kUint8 = 1, kInt64 = 4, kFloat32 = 7, kFloat64 = 8, kBFloat16 = 9 };
enum ReduceOperation : int { kSum = 0, kLargest = 2 };

struct UniqueId {
  char bytes[128];
};

using GetVersion = Code(int*);
using GetUniqueId = Code(UniqueId*);
using Initialize = Code(Communicator*, int size, UniqueId, int rank);
using End = Code(Communicator);  // ncclCommDestroy, ncclCommAbort
using AsyncError = Code(Communicator, Code*);
using ErrorString = const char*(Code);
using AllReduce = Code(const void* from, void* to, std::size_t count, DataType, ReduceOperation,
                       Communicator, Stream);
using ReduceScatter = Code(const void* from, void* to, std::size_t count_to, DataType,
                           ReduceOperation, Communicator, Stream);
using AllGather = Code(const void* from, void* to, std::size_t count_from, DataType, Communicator,
                       Stream);

}  // namespace tritonsmith::distributed::nccl
