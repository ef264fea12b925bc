#include "distributed/nccl.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <cstring>

#include "base/check.h"

namespace tritonsmith::distributed {
namespace {

struct Api {
  nccl::GetVersion* get_version = nullptr;
  nccl::GetUniqueId* get_unique_id = nullptr;
  nccl::Initialize* initialize = nullptr;
  nccl::End* destroy = nullptr;
  nccl::End* abort = nullptr;
  nccl::AsyncError* async_error = nullptr;
  nccl::ErrorString* error_string = nullptr;
  nccl::AllReduce* all_reduce = nullptr;
  nccl::ReduceScatter* reduce_scatter = nullptr;
  nccl::AllGather* all_gather = nullptr;
};

template <typename Function>
Status find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr ? ok() : fail("libnccl.so.2 lacks {}", name);
}

Result<Api> load() {
  // If LibTorch's CUDA libraries are loaded, NCCL is loaded too. Otherwise it lies beside them in
  // the wheel.
  void* library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) library = ::dlopen(TRITONSMITH_NCCL, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return fail("cannot load NCCL: {}", ::dlerror());
  Api api;
  TRY(find(library, "ncclGetVersion", api.get_version));
  TRY(find(library, "ncclGetUniqueId", api.get_unique_id));
  TRY(find(library, "ncclCommInitRank", api.initialize));
  TRY(find(library, "ncclCommDestroy", api.destroy));
  TRY(find(library, "ncclCommAbort", api.abort));
  TRY(find(library, "ncclCommGetAsyncError", api.async_error));
  TRY(find(library, "ncclGetErrorString", api.error_string));
  TRY(find(library, "ncclAllReduce", api.all_reduce));
  TRY(find(library, "ncclReduceScatter", api.reduce_scatter));
  TRY(find(library, "ncclAllGather", api.all_gather));
  return api;
}

const Result<Api>& loaded() {
  static const Result<Api> api = load();
  return api;
}

Status checked(nccl::Code code, const char* what) {
  if (code == nccl::kSuccess || code == nccl::kInProgress) return ok();
  return fail("NCCL cannot {}: {} (NCCL_DEBUG=WARN says more)", what,
              (*loaded()).error_string(code));
}

nccl::DataType type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return nccl::kFloat32;
    case at::kDouble:
      return nccl::kFloat64;
    case at::kBFloat16:
      return nccl::kBFloat16;
    case at::kLong:
      return nccl::kInt64;
    default:
      CHECK(tensor.scalar_type() == at::kByte, "ranks do not exchange tensors of this type");
      return nccl::kUint8;
  }
}

c10::Stream current_stream(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace

// Complete when the stream has passed it.
class Nccl::Running : public Operation {
 public:
  Running(Nccl& nccl, at::Tensor tensor)
      : nccl_(nccl), tensor_(std::move(tensor)), event_(tensor_.device().type()) {
    event_.record(current_stream(tensor_.device()));
  }

  bool is_done() override {
    if (error_) return true;
    const std::lock_guard lock(nccl_.mutex_);
    if (nccl_.communicator_ == nullptr) {
      error_ = "aborted";
    } else {
      nccl::Code code = nccl::kSuccess;
      (*loaded()).async_error(nccl_.communicator_, &code);
      if (const Status status = checked(code, "go on"); !status) error_ = status.error().message;
    }
    return error_ || event_.query();
  }
  std::optional<std::string> error() override { return error_; }
  bool call_when_done(std::function<void()>) override { return false; }

 private:
  Nccl& nccl_;
  at::Tensor tensor_;
  c10::Event event_;
  std::optional<std::string> error_;
};

Result<std::string> Nccl::make_id() {
  if (!loaded()) return tl::unexpected(loaded().error());
  nccl::UniqueId id{};
  TRY(checked((*loaded()).get_unique_id(&id), "begin"));
  return std::string(id.bytes, sizeof id.bytes);
}

Result<int> Nccl::version() {
  if (!loaded()) return tl::unexpected(loaded().error());
  int version = 0;
  TRY(checked((*loaded()).get_version(&version), "tell its version"));
  return version;
}

Result<std::unique_ptr<Nccl>> Nccl::connect(const Ranks& ranks, const std::string& id,
                                            c10::Device device) {
  if (!loaded()) return tl::unexpected(loaded().error());
  nccl::UniqueId unique{};
  CHECK(id.size() == sizeof unique.bytes, "an id of NCCL has {} bytes", sizeof unique.bytes);
  std::memcpy(unique.bytes, id.data(), id.size());
  const c10::DeviceGuard on(device);
  nccl::Communicator communicator = nullptr;
  TRY(checked((*loaded()).initialize(&communicator, ranks.size(), unique, ranks.rank()),
              "connect the GPUs"));
  return std::unique_ptr<Nccl>(new Nccl(communicator, ranks));
}

Nccl::~Nccl() {
  if (communicator_ != nullptr) (*loaded()).destroy(communicator_);
}

template <typename Call>
Result<OperationPtr> Nccl::enqueue(const at::Tensor& tensor, const Call& call) {
  CHECK(tensor.is_contiguous() && tensor.is_cuda(), "NCCL takes contiguous tensors on a GPU");
  const c10::DeviceGuard on(tensor.device());
  {
    const std::lock_guard lock(mutex_);
    if (communicator_ == nullptr) return fail("NCCL was aborted");
    TRY(checked(call(current_stream(tensor.device()).native_handle()), "start an operation"));
  }
  return OperationPtr(std::make_unique<Running>(*this, tensor));
}

Result<OperationPtr> Nccl::reduce(const at::Tensor& values, Reduction reduction) {
  void* data = values.mutable_data_ptr();
  const auto operation = reduction == Reduction::sum ? nccl::kSum : nccl::kLargest;
  return enqueue(values, [&](nccl::Stream stream) {
    return (*loaded()).all_reduce(data, data, static_cast<std::size_t>(values.numel()),
                                  type_of(values), operation, communicator_, stream);
  });
}

Result<OperationPtr> Nccl::sum_to_shards(const at::Tensor& flat) {
  const Shard own = ranks_.shard_of(flat.numel());
  void* shard = flat.narrow(0, own.begin, own.count).mutable_data_ptr();
  return enqueue(flat, [&](nccl::Stream stream) {
    return (*loaded()).reduce_scatter(flat.mutable_data_ptr(), shard,
                                      static_cast<std::size_t>(own.count), type_of(flat),
                                      nccl::kSum, communicator_, stream);
  });
}

Result<OperationPtr> Nccl::gather_shards(const at::Tensor& flat) {
  const Shard own = ranks_.shard_of(flat.numel());
  const void* shard = flat.narrow(0, own.begin, own.count).const_data_ptr();
  return enqueue(flat, [&](nccl::Stream stream) {
    return (*loaded()).all_gather(shard, flat.mutable_data_ptr(),
                                  static_cast<std::size_t>(own.count), type_of(flat), communicator_,
                                  stream);
  });
}

void Nccl::abort() {
  // If another thread holds the lock, it is inside NCCL, perhaps for ever. The watch's grace then
  // ends the process.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  if (communicator_ != nullptr) (*loaded()).abort(communicator_);
  communicator_ = nullptr;
}

}  // namespace tritonsmith::distributed
