// Ranks that are threads of one process, for tests of results over several ranks. Sums are taken in
// the order of the ranks.
#pragma once

#include <ATen/ATen.h>

#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "distributed/ranks.h"

namespace tritonsmith::distributed {

class ThreadRanks : public Ranks {
 public:
  // The data that the threads share.
  struct Meeting {
    explicit Meeting(int ranks)
        : barrier(ranks), tensors(static_cast<std::size_t>(ranks)), words(tensors.size()) {}
    std::barrier<> barrier;
    std::vector<at::Tensor> tensors;
    std::vector<std::string> words;
  };
  ThreadRanks(int rank, int size, Meeting& meeting) : Ranks(rank, size), meeting_(meeting) {}

  Status sum(const at::Tensor& values, std::string_view) override {
    combine(values, [](at::Tensor& all, const at::Tensor& one) { all += one; });
    return ok();
  }
  Status largest(const at::Tensor& values, std::string_view) override {
    combine(values, [](at::Tensor& all, const at::Tensor& one) { all = at::max(all, one); });
    return ok();
  }
  // The other shards are overwritten, so that no test relies on them.
  Status sum_to_shards(const at::Tensor& flat, std::string_view what) override {
    const at::Tensor whole = flat.clone();
    TRY(sum(whole, what));
    const Shard own = shard_of(flat.numel());
    flat.fill_(1e9);
    flat.narrow(0, own.begin, own.count).copy_(whole.narrow(0, own.begin, own.count));
    return ok();
  }
  Status gather_shards(const at::Tensor& flat, std::string_view) override {
    const Shard own = shard_of(flat.numel());
    share(flat.narrow(0, own.begin, own.count).clone());
    flat.copy_(at::cat(meeting_.tensors));
    meeting_.barrier.arrive_and_wait();
    return ok();
  }
  Result<std::vector<std::string>> gather(std::string_view bytes, std::string_view) override {
    meeting_.words[static_cast<std::size_t>(rank())] = bytes;
    meeting_.barrier.arrive_and_wait();
    auto all = meeting_.words;
    meeting_.barrier.arrive_and_wait();
    return all;
  }
  void end(const Status&) override {}

 private:
  void share(at::Tensor tensor) {
    meeting_.tensors[static_cast<std::size_t>(rank())] = std::move(tensor);
    meeting_.barrier.arrive_and_wait();
  }
  template <typename Combine>
  void combine(const at::Tensor& values, const Combine& add) {
    share(values.clone());
    at::Tensor all = meeting_.tensors[0].clone();
    for (std::size_t i = 1; i < meeting_.tensors.size(); ++i) add(all, meeting_.tensors[i]);
    values.copy_(all);
    meeting_.barrier.arrive_and_wait();
  }

  Meeting& meeting_;
};

// Runs `body` on `size` ranks, each in its own thread.
inline void as_ranks(int size, const std::function<void(Ranks&)>& body) {
  ThreadRanks::Meeting meeting(size);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(rank, size, meeting);
      body(ranks);
    });
}

}  // namespace tritonsmith::distributed
