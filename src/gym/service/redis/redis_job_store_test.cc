// Tests of what only a Redis job store has: several programs, a server that goes away, replies that
// get lost. job_store_contract_test.cc has the promises of every store.
#include "gym/service/redis/redis_job_store.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "base/temp_dir.h"
#include "gym/service/redis/testing/redis_server.h"
#include "gym/service/testing/job_store_fixture.h"

namespace tritonsmith::gym::service {
namespace {

class RedisJobStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<RedisJobStore> open(const std::string& version = "17") {
    auto opened = RedisJobStore::open({.address = server.address(), .version = version});
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  static JobState submit(JobStore& store, const std::string& kernel,
                         const std::string& client = "ann") {
    const auto submitted = store.submit(std::vector{wish(kernel, client)}, {});
    EXPECT_TRUE(submitted) << submitted.error().message;
    return std::get<std::vector<JobView>>(*submitted).at(0).state;
  }
  static std::string take(JobStore& store, const Lease& lease) {
    const auto taken = store.take(lease, 1);
    EXPECT_TRUE(taken) << taken.error().message;
    return taken->empty() ? "" : taken->at(0).job.kernel;
  }
  static void conclude(JobStore& store, const std::string& kernel) {
    EXPECT_TRUE(store.conclude("worker", std::vector<ConcludedJob>{{api::job_name(wish(kernel)),
                                                                    api::accepted_verdict()}}));
  }

  // As the program does: a write to a server that has gone is an error, and no signal.
  RedisJobStoreTest() { std::signal(SIGPIPE, SIG_IGN); }

  Result<TempDir> directory = TempDir::make("redis");
  RedisServer server{directory->path()};
  const Lease lease{.worker = "worker"};
};

TEST_F(RedisJobStoreTest, ServesDoorsAndWorkersThatShareIt) {
  const auto api_server = open(), other_api_server = open(), worker = open();
  submit(*api_server, "k");
  EXPECT_EQ(take(*worker, lease), "k");
  EXPECT_EQ(submit(*other_api_server, "k", "bob"), JobState::running);
  conclude(*worker, "k");
  EXPECT_EQ(api_server->counts()->repeated_verdicts, 0);
  conclude(*other_api_server, "k");
  EXPECT_EQ(api_server->events("ann", 0, 10)->size(), 1U);
  EXPECT_EQ(other_api_server->events("bob", 0, 10)->size(), 1U);
  EXPECT_EQ(api_server->counts()->repeated_verdicts, 1) << "the first verdict counts";
  EXPECT_EQ(api_server->epoch(), worker->epoch());
}

TEST_F(RedisJobStoreTest, WakesADoorWhenAWorkerElsewhereIsDone) {
  const auto api_server = open(), worker = open();
  submit(*api_server, "k");
  take(*worker, lease);
  std::jthread working;
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  std::uint64_t seen = api_server->changes();
  working = std::jthread([&] { conclude(*worker, "k"); });
  while (api_server->events("ann", 0, 10)->empty() && !deadline.passed()) {
    api_server->wait_for_change(seen, deadline);
    seen = api_server->changes();
  }
  EXPECT_FALSE(deadline.passed());
}

TEST_F(RedisJobStoreTest, KeepsWhatItAcknowledgedWhenTheServerIsKilled) {
  const auto api_server = open();
  submit(*api_server, "k");
  server.kill();
  std::string taken;
  std::jthread taking([&] { taken = take(*api_server, lease); });
  server.start();
  taking.join();
  EXPECT_EQ(taken, "k") << "the call waits until the server is back";
}

TEST_F(RedisJobStoreTest, FailsWithTheServersNameWhenItStaysAway) {
  server.kill();
  const auto opened =
      RedisJobStore::open({.address = server.address(), .patience = Milliseconds(30)});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("redis.sock"), std::string::npos);
  EXPECT_EQ(opened.error().kind, ErrorKind::fault);
}

// The reply to a take() may get lost. The worker then does not know of the job, and must not prolong
// its lease.
TEST_F(RedisJobStoreTest, PassesOnAJobWhoseTakerNeverHeardOfIt) {
  const auto api_server = open();
  submit(*api_server, "k");
  const Lease short_lease{.worker = "worker", .span = Milliseconds(1)};
  EXPECT_EQ(take(*open(), short_lease), "k");  // a program that ends at once
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  std::string again;
  while (again.empty() && !deadline.passed()) again = take(*api_server, short_lease);
  EXPECT_EQ(again, "k");
}

// Otherwise the jobs of a dead worker wait as long as the clock was set back.
TEST_F(RedisJobStoreTest, EndsLeasesInTimeAlthoughTheClockWasSetBack) {
  constexpr std::int64_t hour = 3'600'000;
  std::int64_t now = 10 * hour;
  auto opened = RedisJobStore::open({.address = server.address(), .now = [&] { return now; }});
  ASSERT_TRUE(opened);
  JobStore& store = **opened;
  submit(store, "k");
  submit(store, "l");
  const Lease dead{.worker = "dead"}, brief{.worker = "brief", .span = Milliseconds(1000)};
  EXPECT_EQ(take(store, dead), "k");
  ASSERT_TRUE(store.reports().announce(dead, {.host = "h"}));
  now -= hour;
  EXPECT_TRUE(store.reports().workers()->empty()) << "it is listed again after its next heartbeat";
  EXPECT_EQ(take(store, brief), "l");
  now += dead.span.count() / 2;
  EXPECT_EQ(take(store, lease), "l") << "this lease is shorter";
  now += dead.span.count() / 2 + 1;
  EXPECT_EQ(take(store, lease), "k");
}

TEST_F(RedisJobStoreTest, AnswersNoJobWithTheVerdictOfAnotherVersion) {
  const auto old_store = open("17"), store = open("18");
  submit(*old_store, "k");
  take(*old_store, lease);
  conclude(*old_store, "k");
  EXPECT_EQ(submit(*old_store, "k"), JobState::done);
  EXPECT_EQ(submit(*store, "k"), JobState::queued);
}

TEST_F(RedisJobStoreTest, TakesVerdictsWithTheSealOfItsKeyAlone) {
  const auto open_with = [&](const std::string& key) {
    auto opened = RedisJobStore::open({.address = server.address(), .verdict_key = key});
    EXPECT_TRUE(opened);
    return *std::move(opened);
  };
  const auto api_server = open_with("the key"), worker = open_with("the key"),
             stranger = open_with("");
  submit(*api_server, "k");
  take(*worker, lease);
  conclude(*worker, "k");
  EXPECT_TRUE(api_server->find(api::job_name(wish("k")))->value().verdict.starts_with("{"));
  EXPECT_EQ(api_server->events("ann", 0, 10)->size(), 1U);
  EXPECT_NE(stranger->find(api::job_name(wish("k"))).error().message.find("--verdict-key"),
            std::string::npos);
  submit(*api_server, "l");
  conclude(*stranger, "l");
  const auto forged = api_server->find(api::job_name(wish("l")));
  ASSERT_FALSE(forged) << "a verdict that anybody could have written is none";
  EXPECT_NE(forged.error().message.find("seal"), std::string::npos);
}

TEST_F(RedisJobStoreTest, ForgetsTheOldestFinishedJobsAndAllThatBelongsToThem) {
  auto opened = RedisJobStore::open(
      {.address = server.address(), .limits = {.finished = 2}, .version = "17"});
  ASSERT_TRUE(opened);
  JobStore& store = **opened;
  for (const std::string kernel : {"a", "b", "c"}) {
    submit(store, kernel);
    ASSERT_TRUE(store.aliases().remember("alias of " + kernel, api::job_name(wish(kernel))));
    take(store, lease);
    conclude(store, kernel);
  }
  EXPECT_FALSE(store.find(api::job_name(wish("a")))->has_value());
  EXPECT_TRUE(store.find(api::job_name(wish("c")))->has_value());
  EXPECT_EQ(*store.aliases().find("alias of a"), "");
  EXPECT_EQ(store.events("ann", 0, 10)->size(), 2U);
}

TEST(RedisAddress, ReadsUrlsAndSocketFiles) {
  const auto address = parse_redis_address("redis://ann:a%40b@[::1]:7000/3");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->user, "ann");
  EXPECT_EQ(address->password, "a@b");
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, 7000);
  EXPECT_EQ(address->database, 3);
  EXPECT_EQ(parse_redis_address("redis://host")->port, 6379);
  EXPECT_EQ(parse_redis_address("unix:/run/redis.sock")->socket, "/run/redis.sock");
}

TEST(RedisAddress, NamesWhatIsWrongWithoutThePassword) {
  for (const char* text :
       {"http://host", "redis://", "redis://:secret@host:port", "redis://:secret@host:70000",
        "redis://secret@host", "unix:", "redis://:se%zzcret@host", "redis://:secret@host/x"}) {
    const auto address = parse_redis_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().message.find("secret"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tritonsmith::gym::service
