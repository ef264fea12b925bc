// One rank of a small job, for ranks_test.cc. It joins the others as the environment says, does one
// thing, and prints the result.
//
//   ranks_probe sums      every operation once
//   ranks_probe wait      operations without end, after the line "ready"
//   ranks_probe fail      rank 1 fails while the others wait for it
//   ranks_probe late      rank 1 stays away from an operation with a limit of one second
//   ranks_probe join      joins within a second and ends
//   ranks_probe stuck     after "ready", a main thread that nothing can wake
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "distributed/join.h"

namespace tritonsmith::distributed {
namespace {

// Returns [N]: rank, rank + 1, ...
at::Tensor counted(const Ranks& ranks, std::int64_t count) {
  return at::arange(count, at::kFloat) + static_cast<float>(ranks.rank());
}

void print(std::string_view name, const at::Tensor& values) {
  const at::Tensor doubles = values.to(at::kDouble).contiguous();
  const double* first = doubles.const_data_ptr<double>();
  fmt::print("{} {}\n", name, fmt::join(first, first + doubles.numel(), ","));
}

Status do_sums(Ranks& ranks) {
  const std::int64_t count = std::int64_t{2} * ranks.size();
  at::Tensor values = counted(ranks, count);
  TRY(ranks.sum(values, "a sum"));
  print("sum", values);
  values = counted(ranks, count).to(at::kDouble);
  TRY(ranks.largest(values, "a largest"));
  print("largest", values);
  values = counted(ranks, count);
  TRY(ranks.sum_to_shards(values, "a sum to shards"));
  const Shard own = ranks.shard_of(count);
  values = values.narrow(0, own.begin, own.count).clone();
  print("own", values);
  const at::Tensor flat = at::full({count}, -1.0F);
  flat.narrow(0, own.begin, own.count).copy_(values);
  TRY(ranks.gather_shards(flat, "a gathering"));
  print("all", flat);
  const std::string word(static_cast<std::size_t>(ranks.rank()), 'a');
  TRY_ASSIGN(const auto words, ranks.gather(word, "words"));
  fmt::print("words {}\n", fmt::join(words, ","));
  TRY_ASSIGN(const auto first, ranks.from_first(fmt::format("from {}", ranks.rank()), "a word"));
  TRY_ASSIGN(const bool is_any, ranks.any(ranks.rank() == 1, "a question"));
  TRY_ASSIGN(const bool is_none, ranks.any(false, "a question"));
  fmt::print("first {} any {} none {}\n", first, is_any, is_none);
  const Status agreed =
      ranks.agree(ranks.rank() == 1 ? Status(fail("no disk")) : ok(), "an agreement");
  fmt::print("agreed {}\n", agreed ? "" : agreed.error().message);
  // More elements than Gloo takes at once.
  const at::Tensor large = at::ones({(std::int64_t{1} << 24) + 3});
  TRY(ranks.sum(large, "a large sum"));
  fmt::print("large {}\n",
             large.sum(at::kDouble).item<double>() / static_cast<double>(large.numel()));
  return ranks.meet("the end");
}

void say_ready() {
  fmt::print("ready\n");
  std::fflush(stdout);
}

Status do_one(const std::string& mode, Ranks& ranks) {
  if (mode == "sums") return do_sums(ranks);
  if (mode == "join") return ok();
  if (mode == "fail" && ranks.rank() == 1) return fail("the disk is full");
  if (mode == "late" && ranks.rank() == 1) ::pause();
  if (mode == "late") return ranks.meet("a meeting");
  TRY(ranks.meet("a meeting"));
  say_ready();
  while (mode == "stuck") ::pause();
  for (;;) TRY(ranks.sum(at::ones({8}), "a sum without end"));
}

Status run(const std::string& mode) {
  using std::chrono::milliseconds;
  TRY_ASSIGN(const LaunchInfo launch, launch_info_from(process_environment()));
  TRY_ASSIGN(const auto ranks,
             join(launch, {.join = milliseconds(mode == "join" ? 1500 : 60000),
                           .operation = milliseconds(mode == "late" ? 1000 : 60000),
                           .grace = milliseconds(mode == "stuck" ? 300 : 60000)}));
  const Status status = do_one(mode, *ranks);
  ranks->end(status);
  return status;
}

}  // namespace
}  // namespace tritonsmith::distributed

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // like the program: Gloo writes to peers that have ended
  const auto status = tritonsmith::distributed::run(argc > 1 ? argv[1] : "");
  if (!status) fmt::print(stderr, "{}\n", status.error().message);
  return status ? 0 : 1;
}
