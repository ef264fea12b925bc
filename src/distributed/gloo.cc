#include "distributed/gloo.h"

#include <ATen/ATen.h>
#define USE_C10D_GLOO  // the wheel has Gloo; its headers need this macro
#include <cstdlib>
#include <exception>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace tritonsmith::distributed {
namespace {

// Returns the first line of c10d's message. The rest is a stack trace.
std::string first_line(const std::exception& error) {
  std::string message = error.what();
  message.resize(std::min(message.find('\n'), message.size()));
  return message;
}

// Runs `body` and converts its exception into an Error.
template <typename Body>
auto caught(Body body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (const std::exception& error) {
    return fail("{}", first_line(error));
  }
}

class GlooOperation : public Operation {
 public:
  GlooOperation(c10::intrusive_ptr<c10d::Work> work, std::vector<at::Tensor> tensors)
      : work_(std::move(work)), future_(work_->getFuture()), tensors_(std::move(tensors)) {}

  bool is_done() override { return future_->completed(); }
  std::optional<std::string> error() override {
    if (!future_->hasError()) return std::nullopt;
    const std::string message = future_->tryRetrieveErrorMessage();
    return message.substr(0, message.find('\n'));
  }
  bool call_when_done(std::function<void()> call) override {
    future_->addCallback([call = std::move(call)](c10::ivalue::Future&) { call(); });
    return true;
  }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::vector<at::Tensor> tensors_;
};

std::shared_ptr<gloo::transport::Device> device_for(const std::string& address) {
  using Gloo = c10d::ProcessGroupGloo;
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"))
    return Gloo::createDeviceForInterface(interface);
  return address.empty() ? Gloo::createDefaultDevice() : Gloo::createDeviceForHostname(address);
}

}  // namespace

struct JobStore::Held {
  c10::intrusive_ptr<c10d::Store> store;
};

Result<JobStore> JobStore::open(const LaunchInfo& launch, std::chrono::milliseconds patience) {
  const bool listens = launch.rank == 0 && !launch.launcher_keeps_store;
  auto held = caught([&] {
    c10d::TCPStoreOptions options;
    options.port = launch.port;
    options.isServer = listens;
    options.waitWorkers = false;
    options.timeout = patience;
    c10::intrusive_ptr<c10d::Store> store =
        c10::make_intrusive<c10d::TCPStore>(launch.host, options);
    store = c10::make_intrusive<c10d::PrefixStore>(launch.store_prefix + "/tritonsmith", store);
    store->setTimeout(patience);
    return std::make_shared<Held>(Held{std::move(store)});
  });
  if (held) return JobStore(*std::move(held));
  if (listens)
    return fail("cannot listen on port {} ({}); set MASTER_PORT to a free one, on every rank",
                launch.port, held.error().message);
  return fail(
      "rank {} cannot reach rank 0 at {}:{} ({}); start rank 0, and give every rank its "
      "MASTER_ADDR and MASTER_PORT",
      launch.rank, launch.host, launch.port, held.error().message);
}

Status JobStore::set(const std::string& key, const std::string& value) {
  TRY(caught([&] {
    held_->store->set(key, value);
    return true;
  }));
  return ok();
}

Result<std::string> JobStore::get(const std::string& key) {
  return caught([&] { return held_->store->get_to_str(key); });
}

struct Gloo::Held {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group;
};

Result<std::unique_ptr<Gloo>> Gloo::connect(const JobStore& store, const LaunchInfo& launch,
                                            const std::string& address,
                                            std::chrono::milliseconds patience) {
  return caught([&] {
    const auto options = c10d::ProcessGroupGloo::Options::create(patience);
    options->devices.push_back(device_for(address));
    auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store.held_->store, launch.rank,
                                                             launch.size, options);
    return std::unique_ptr<Gloo>(new Gloo(std::make_shared<Held>(Held{std::move(group)})));
  });
}

Result<OperationPtr> Gloo::reduce(const at::Tensor& values, Reduction reduction) {
  return caught([&]() -> OperationPtr {
    std::vector<at::Tensor> tensors = {values};
    c10d::AllreduceOptions options;
    options.reduceOp = reduction == Reduction::sum ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
    return std::make_unique<GlooOperation>(held_->group->allreduce(tensors, options), tensors);
  });
}

Result<OperationPtr> Gloo::gather(const at::Tensor& all, const at::Tensor& one) {
  return caught([&]() -> OperationPtr {
    at::Tensor output = all, input = one;
    return std::make_unique<GlooOperation>(held_->group->_allgather_base(output, input),
                                           std::vector<at::Tensor>{output, input});
  });
}

void Gloo::abandon() {
  // The destructor would wait for the threads, but the process is about to end.
  if (held_) static_cast<void>(new std::shared_ptr<Held>(std::move(held_)));
}

}  // namespace tritonsmith::distributed
