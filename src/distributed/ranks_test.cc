// Several processes on this machine, over Gloo.
#include "distributed/ranks.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/process.h"
#include "distributed/line_socket.h"

namespace tritonsmith::distributed {
namespace {

using ::testing::HasSubstr;

Deadline soon() { return Deadline::after(std::chrono::seconds(60)); }

// A rank of a job, which runs the probe.
struct Rank {
  Process process;
  Fd out, err;

  // Reads up to the end of the line or of the output.
  std::string line() const {
    std::string text;
    for (char byte = 0; ::read(out.get(), &byte, 1) == 1 && byte != '\n';) text += byte;
    return text;
  }
  static std::string rest_of(const Fd& fd) {
    std::string text;
    char bytes[4096];
    for (ssize_t got = 0; (got = ::read(fd.get(), bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(got));
    return text;
  }
  // Returns the output of a process that ended well. Otherwise it returns stderr after "failed: ",
  // or the way in which the process ended.
  std::string result() {
    const std::string printed = rest_of(out), said = rest_of(err);
    const auto status = process.wait(soon());
    if (status && status->success()) return printed;
    return "failed: " + (said.empty() && status ? describe(*status) : said);
  }
};

std::uint16_t free_port() { return listen_anywhere()->port; }

std::vector<Rank> start(const std::string& mode, int size, std::vector<int> ranks) {
  const std::uint16_t port = free_port();
  std::vector<Rank> job;
  for (const int rank : ranks) {
    auto out = make_pipe(), err = make_pipe();
    auto process = Process::spawn(
        {.argv = {RANKS_PROBE, mode},
         .environment = {"RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(size),
                         "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + std::to_string(port),
                         "OMP_NUM_THREADS=1", "PATH=/usr/bin:/bin"},
         .fds = {{.ours = out->write.get(), .theirs = 1},
                 {.ours = err->write.get(), .theirs = 2}}});
    EXPECT_TRUE(process) << process.error().message;
    job.push_back(
        {.process = *std::move(process), .out = std::move(out->read), .err = std::move(err->read)});
  }
  return job;
}

TEST(Ranks, ExchangeTensorsAndBytes) {
  auto two = start("sums", 2, {0, 1});
  const std::string shared = "all 1,3,5,7\nwords ,a\nfirst from 0 any true none false\n";
  EXPECT_EQ(two[0].result(), "sum 1,3,5,7\nlargest 1,2,3,4\nown 1,3\n" + shared +
                                 "agreed rank 1 of 2: no disk\nlarge 2\n");
  EXPECT_EQ(two[1].result(),
            "sum 1,3,5,7\nlargest 1,2,3,4\nown 5,7\n" + shared + "agreed no disk\nlarge 2\n");
  auto three = start("sums", 3, {0, 1, 2});
  EXPECT_THAT(three[0].result(), HasSubstr("own 3,6\nall 3,6,9,12,15,18\nwords ,a,aa\n"));
  EXPECT_THAT(three[1].result(), HasSubstr("own 9,12\nall 3,6,9,12,15,18\n"));
  EXPECT_THAT(three[2].result(), HasSubstr("own 15,18\n"));
}

TEST(Ranks, EndWithTheNameOfTheOneThatWasKilled) {
  for (const int victim : {1, 0}) {
    auto job = start("wait", 3, {0, 1, 2});
    for (const Rank& rank : job) ASSERT_EQ(rank.line(), "ready");
    const Stopwatch watch;
    ::kill(job[static_cast<std::size_t>(victim)].process.pid(), SIGKILL);
    for (int rank = 0; rank < 3; ++rank) {
      if (rank == victim) continue;
      EXPECT_THAT(job[static_cast<std::size_t>(rank)].result(),
                  HasSubstr(fmt::format("failed: rank {} of 3 (on ", victim)));
    }
    EXPECT_LT(watch.seconds(), 10);
  }
}

TEST(Ranks, EndWithTheWordsOfTheOneThatFailed) {
  auto job = start("fail", 3, {0, 1, 2});
  EXPECT_EQ(job[1].result(), "failed: the disk is full\n");
  for (const std::size_t other : {0U, 2U}) {
    const std::string result = job[other].result();
    EXPECT_THAT(result, HasSubstr("rank 1 of 3 (on "));  // Gloo may print something first
    EXPECT_THAT(result, HasSubstr(") failed: the disk is full"));
  }
}

TEST(Ranks, NameTheOneThatStaysAway) {
  auto job = start("late", 2, {0, 1});
  const std::string result = job[0].result();
  EXPECT_THAT(result, HasSubstr("failed: a meeting: rank 1 of 2 (on "));
  EXPECT_THAT(result, HasSubstr("did not come to it within 1 s"));
}

TEST(Ranks, NameTheOneThatNeverJoins) {
  auto job = start("join", 3, {0, 2});
  EXPECT_THAT(job[0].result(), HasSubstr("failed: rank 1 of 3 did not come; start every rank"));
  EXPECT_THAT(job[1].result(), HasSubstr("rank 1 of 3 did not come"));
}

TEST(Ranks, EndEvenWhereTheMainThreadIsStuck) {
  auto job = start("stuck", 2, {0, 1});
  for (const Rank& rank : job) ASSERT_EQ(rank.line(), "ready");
  ::kill(job[0].process.pid(), SIGKILL);
  EXPECT_THAT(job[1].result(), HasSubstr("failed: tritonsmith: rank 0 of 2 (on "));
}

TEST(Ranks, CostNothingAlone) {
  Ranks& only = nobody_else();
  const at::Tensor values = at::ones({3});
  EXPECT_TRUE(only.sum(values, "") && only.sum_to_shards(values, "") &&
              only.gather_shards(values, "") && only.meet(""));
  EXPECT_TRUE(at::equal(values, at::ones({3})));
  EXPECT_EQ(*only.gather("x", ""), std::vector<std::string>{"x"});
  EXPECT_EQ(only.agree(fail("mine"), "").error().message, "mine");
  EXPECT_EQ(only.shard_of(3).count, 3);
  EXPECT_EQ(only.padded(1030, 1024), 2048);
}

}  // namespace
}  // namespace tritonsmith::distributed
