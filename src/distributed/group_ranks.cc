#include "distributed/group_ranks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tritonsmith::distributed {
namespace {

// Gloo copies the tensors that it reduces. Pieces of this many elements keep the copy small.
constexpr std::int64_t kBucket = std::int64_t{1} << 24;
// Interval between two looks at the GPU. An operation takes milliseconds.
constexpr std::chrono::microseconds kLook{100};
// Gloo and the watch notice a broken connection at about the same time. This is the wait for the
// watch's sentence.
constexpr std::chrono::seconds kHearWhoItWas{10};

at::Tensor bytes_in(std::string_view bytes, std::int64_t length) {
  at::Tensor tensor = at::zeros({length}, at::kByte);
  if (!bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

GroupRanks::GroupRanks(const LaunchInfo& launch, Parts parts, std::chrono::milliseconds patience)
    : Ranks(launch.rank, launch.size),
      parts_(std::move(parts)),
      // Rank 0 knows which rank is late, so its patience ends first.
      patience_(patience + (launch.rank == 0 ? std::chrono::seconds(0) : std::chrono::seconds(5))) {
}

GroupRanks::~GroupRanks() {
  if (is_broken_ || parts_.watch->lost()) {
    // An operation may still run that uses these objects. Only the end of the process ends it.
    parts_.gloo->abandon();
    static_cast<void>(parts_.watch.release());
    static_cast<void>(nccl_.release());
    return;
  }
  parts_.gloo.reset();   // Gloo's threads wake the watch
  parts_.watch.reset();  // the watch's thread may call NCCL
}

Status GroupRanks::carry_out(std::string_view what, const Start& start) {
  if (auto lost = parts_.watch->lost()) return tl::unexpected(*std::move(lost));
  if (is_broken_) return fail_by_fault("{}: an operation before it never ended", what);
  parts_.watch->note(++number_, what);
  auto operation = start();
  if (!operation) return blame(what, operation.error().message);
  const Status status = await(**operation, what);
  if (!status && !(*operation)->is_done()) {
    is_broken_ = true;
    static_cast<void>(operation->release());  // the operation still uses its tensors
  }
  return status;
}

Status GroupRanks::await(Operation& operation, std::string_view what) {
  Watch& watch = *parts_.watch;
  const Deadline deadline = Deadline::after(patience_);
  const bool tells = operation.call_when_done([&watch] { watch.wake(); });
  for (;;) {
    const auto waited =
        watch.wait([&] { return operation.is_done(); }, tells ? deadline : Deadline::after(kLook));
    if (waited == Watch::Waited::ready) break;
    if (waited == Watch::Waited::lost) return tl::unexpected(*watch.lost());
    if (!deadline.passed()) continue;
    std::string late = watch.latecomers(number_);
    if (late.empty()) late = "some rank";
    return fail_by_fault("{}: {} did not come to it within {} s", what, late,
                         std::chrono::duration_cast<std::chrono::seconds>(patience_).count());
  }
  if (const auto error = operation.error()) return blame(what, *error);
  return ok();
}

// The cause of most errors is the end of another rank. The watch knows which one.
tl::unexpected<Error> GroupRanks::blame(std::string_view what, const std::string& message) {
  is_broken_ = true;
  const auto waited = parts_.watch->wait([] { return false; }, Deadline::after(kHearWhoItWas));
  if (waited == Watch::Waited::lost) return tl::unexpected(*parts_.watch->lost());
  return fail_by_fault("{}: {}", what, message);
}

Status GroupRanks::connect_gpus(c10::Device device) {
  if (nccl_ != nullptr) return ok();
  std::string id;
  Status drawn = ok();
  if (is_first()) {
    auto made = Nccl::make_id();
    if (made)
      id = *std::move(made);
    else
      drawn = tl::unexpected(made.error());
  }
  TRY(agree(drawn, "meeting on the GPUs"));
  TRY_ASSIGN(id, from_first(id, "meeting on the GPUs"));
  auto connected = Nccl::connect(*this, id, device);
  TRY(agree(connected ? ok() : Status(tl::unexpected(connected.error())), "meeting on the GPUs"));
  nccl_ = *std::move(connected);
  parts_.watch->call_at_loss([nccl = nccl_.get()] { nccl->abort(); });
  return ok();
}

Status GroupRanks::reduce(const at::Tensor& values, Reduction reduction, std::string_view what) {
  CHECK(values.is_contiguous(), "ranks exchange contiguous tensors");
  if (values.is_cuda()) {
    TRY(connect_gpus(values.device()));
    return carry_out(what, [&] { return nccl_->reduce(values, reduction); });
  }
  const at::Tensor flat = values.view({-1});
  for (std::int64_t begin = 0; begin < flat.numel(); begin += kBucket) {
    const at::Tensor bucket = flat.narrow(0, begin, std::min(kBucket, flat.numel() - begin));
    TRY(carry_out(what, [&] { return parts_.gloo->reduce(bucket, reduction); }));
  }
  return ok();
}

Status GroupRanks::sum(const at::Tensor& values, std::string_view what) {
  return reduce(values, Reduction::sum, what);
}

Status GroupRanks::largest(const at::Tensor& values, std::string_view what) {
  return reduce(values, Reduction::largest, what);
}

Status GroupRanks::sum_to_shards(const at::Tensor& flat, std::string_view what) {
  if (!flat.is_cuda()) return sum(flat, what);  // Gloo's reduce-scatter does the same work
  TRY(connect_gpus(flat.device()));
  return carry_out(what, [&] { return nccl_->sum_to_shards(flat); });
}

Status GroupRanks::gather_shards(const at::Tensor& flat, std::string_view what) {
  if (flat.is_cuda()) {
    TRY(connect_gpus(flat.device()));
    return carry_out(what, [&] { return nccl_->gather_shards(flat); });
  }
  const Shard own = shard_of(flat.numel());
  const at::Tensor mine = flat.narrow(0, own.begin, own.count).clone();
  return carry_out(what, [&] { return parts_.gloo->gather(flat, mine); });
}

Result<std::vector<std::string>> GroupRanks::gather(std::string_view bytes, std::string_view what) {
  const auto count = static_cast<std::int64_t>(bytes.size());
  const at::Tensor lengths = at::empty({size()}, at::kLong);
  TRY(carry_out(what,
                [&] { return parts_.gloo->gather(lengths, at::full({1}, count, at::kLong)); }));
  std::vector<std::string> all(static_cast<std::size_t>(size()));
  const auto longest = lengths.max().item<std::int64_t>();
  if (longest == 0) return all;
  const at::Tensor joined = at::empty({size() * longest}, at::kByte);
  TRY(carry_out(what, [&] { return parts_.gloo->gather(joined, bytes_in(bytes, longest)); }));
  const auto* data = static_cast<const char*>(joined.const_data_ptr());
  for (std::int64_t rank = 0; rank < size(); ++rank)
    all[static_cast<std::size_t>(rank)].assign(
        data + rank * longest, static_cast<std::size_t>(lengths[rank].item<std::int64_t>()));
  return all;
}

void GroupRanks::end(const Status& status) {
  if (status)
    parts_.watch->leave();
  else
    parts_.watch->fail_for(status.error());
}

}  // namespace tritonsmith::distributed
