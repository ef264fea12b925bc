// Tests that every JobStore keeps the promises of job_store.h. Another implementation is one more
// line at the end.
#include <thread>

#include "gym/service/redis/redis_job_store.h"
#include "gym/service/redis/testing/redis_server.h"
#include "gym/service/sqlite_job_store.h"
#include "gym/service/testing/job_store_fixture.h"

namespace tritonsmith::gym::service {
namespace {

struct StoreKind {
  const char* name;
  OpenStore open;
};

class JobStoreContract : public JobStoreFixture, public ::testing::WithParamInterface<StoreKind> {
 protected:
  JobStoreContract() : JobStoreFixture(GetParam().open) {}
  static QuarantinedGpu sick_gpu() {
    return {.gpu = "GPU-1", .device = "NVIDIA H200", .host = "h", .reason = "Xid 48"};
  }
  void conclude_on(const std::string& gpu, const std::string& kernel, const Verdict& verdict) {
    EXPECT_TRUE(store().conclude(
        lease.worker, std::vector<ConcludedJob>{{api::job_name(wish(kernel)), verdict, gpu}}));
  }
};

TEST_P(JobStoreContract, JudgesEqualJobsOnceAndTellsEachClientOnce) {
  submit({wish("k", "ann"), wish("k", "bob")});
  submit({wish("k", "ann")});  // ann's reply got lost, and she asks again
  EXPECT_EQ(take_kernel(), "k");
  EXPECT_EQ(take_kernel(), "");
  EXPECT_EQ(submit({wish("k", "ann")}).at(0).state, JobState::running);
  conclude("k");
  EXPECT_EQ(events("ann").size(), 1U);
  EXPECT_EQ(events("bob").size(), 1U);
  EXPECT_TRUE(events("ann", events("ann").at(0).number).empty());
}

TEST_P(JobStoreContract, AnswersARepeatAtOnceEvenWhenItIsFull) {
  limits.unfinished = 1;
  submit({wish("k", "ann")});
  take_kernel();
  conclude("k");
  submit({wish("other")});
  const JobView again = submit({wish("k", "ann")}).at(0);
  EXPECT_EQ(again.state, JobState::done);
  EXPECT_NE(again.verdict.find("\"accepted\":true"), std::string::npos);
  EXPECT_EQ(events("ann").size(), 1U) << "under its new number only";
}

TEST_P(JobStoreContract, TakesABatchWholeOrNotAtAll) {
  limits.unfinished = 2;
  submit({wish("a")});
  const auto refused = store().submit(std::vector{wish("b"), wish("c")}, {});
  ASSERT_TRUE(refused && std::holds_alternative<JobStoreFull>(*refused));
  EXPECT_EQ(std::get<JobStoreFull>(*refused).unfinished, 1);
  EXPECT_FALSE(store().find(api::job_name(wish("b")))->has_value());
  submit({wish("b"), wish("a"), wish("b")});
  EXPECT_EQ(store().counts()->queued.at(api::Priority::normal), 2);
}

TEST_P(JobStoreContract, GivesOutTheMostUrgentFirstAndEqualOnesInOrder) {
  api::Submission urgent = wish("urgent"), idle = wish("idle");
  urgent.priority = api::Priority::high;
  idle.priority = api::Priority::low;
  submit({idle, wish("first"), wish("second"), urgent});
  EXPECT_EQ(take_kernel(), "urgent");
  EXPECT_EQ(take_kernel(), "first");
  store().give_back(lease.worker, api::job_name(wish("first")));
  EXPECT_EQ(take_kernel(), "first");
  idle.priority = api::Priority::high;  // another client is in a hurry
  submit({idle});
  EXPECT_EQ(take_kernel(), "idle");
}

TEST_P(JobStoreContract, LosesNothingInARestart) {
  submit({wish("running", "ann"), wish("queued", "ann"), wish("done", "ann")});
  take_kernel();
  conclude("done");
  const std::string epoch = store().epoch();
  const std::int64_t number = events("ann").at(0).number;
  reopened();
  EXPECT_EQ(store().epoch(), epoch);
  EXPECT_EQ(events("ann").at(0).number, number);
  EXPECT_EQ(take_kernel(), "running");
  EXPECT_EQ(take_kernel(), "queued");
  conclude("running");
  EXPECT_EQ(events("ann", number).size(), 1U);
}

TEST_P(JobStoreContract, TakesNothingMoreFromAClientThatHasLeft) {
  submit({wish("k", "ann"), wish("l", "bob")});
  EXPECT_TRUE(store().dismiss("ann"));
  EXPECT_EQ(state("k"), JobState::cancelled);
  const auto late = store().submit(std::vector{wish("l", "bob"), wish("k", "ann")}, {});
  ASSERT_TRUE(late && std::holds_alternative<ClientGone>(*late));
  EXPECT_EQ(std::get<ClientGone>(*late).client, "ann");
  EXPECT_EQ(state("k"), JobState::cancelled);
  EXPECT_EQ(submit({wish("k", "bob")}).at(0).state, JobState::queued);
}

TEST_P(JobStoreContract, RecallsWhatWasQueuedBeforeTheStoreCouldBeAsked) {
  submit({wish("running", "ann"), wish("k", "ann"), wish("other", "ann")});
  take_kernel();
  known["running"] = known["k"] = api::accepted_verdict();
  EXPECT_EQ(submit({wish("k", "bob")}).at(0).state, JobState::queued) << "until it is its turn";
  EXPECT_TRUE(store().recall_queued());
  EXPECT_EQ(state("running"), JobState::running);
  EXPECT_EQ(state("k"), JobState::done);
  EXPECT_EQ(state("other"), JobState::queued);
  EXPECT_EQ(events("ann").size(), 1U);
  EXPECT_EQ(events("bob").size(), 1U);
}

TEST_P(JobStoreContract, JudgesAgainWhatEndedInAnInfrastructureFault) {
  Verdict fault = api::accepted_verdict();
  fault.fault = Fault::infrastructure;
  submit({wish("k")});
  take_kernel();
  conclude("k", fault);
  EXPECT_EQ(state("k"), JobState::done);
  EXPECT_EQ(submit({wish("k")}).at(0).state, JobState::queued);
}

TEST_P(JobStoreContract, CancelsAJobOnlyWhenNobodyWantsItAnyMore) {
  submit({wish("k", "ann"), wish("k", "bob")});
  take_kernel();
  const std::string name = api::job_name(wish("k"));
  EXPECT_FALSE(*store().cancel(name, "ann"));
  EXPECT_TRUE(*store().cancel(name, "bob"));
  EXPECT_EQ(state("k"), JobState::cancelled);
  EXPECT_EQ(*store().take_withdrawn(lease.worker), std::vector<std::string>{name});
  conclude("k");  // too late
  EXPECT_EQ(state("k"), JobState::cancelled);
  EXPECT_TRUE(events("ann").empty());
}

TEST_P(JobStoreContract, KnowsWhatIsOverdueAndLetsThePatientWait) {
  api::Submission hasty = wish("k", "ann"), other = wish("l", "ann");
  hasty.deadline_seconds = 5;
  other.deadline_seconds = 5;
  submit({hasty, other});
  submit({wish("l", "bob")});  // bob sets no deadline
  EXPECT_TRUE(store().overdue()->empty());
  now += 5000;
  const auto late = store().overdue();
  ASSERT_EQ(late->size(), 1U);
  EXPECT_EQ(late->at(0).job.kernel, "k");
}

TEST_P(JobStoreContract, AnswersAtOnceWhatIsKnownElsewhereThoughItIsFull) {
  limits.unfinished = 1;
  submit({wish("a", "ann")});
  known["k"] = api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  const JobView done = submit({wish("k", "bob")}).at(0);
  EXPECT_EQ(done.state, JobState::done);
  EXPECT_NE(done.verdict.find("wrong_value"), std::string::npos);
  EXPECT_EQ(events("bob").size(), 1U);
}

TEST_P(JobStoreContract, GivesAJobToAnotherWorkerOnceItsLeaseHasEnded) {
  const Lease other{.worker = "worker-2", .span = lease.span};
  submit({wish("k", "ann")});
  EXPECT_EQ(take_kernel(), "k");
  now += 9000;
  EXPECT_EQ(take_kernel(other), "") << "it is leased";
  ASSERT_TRUE(store().renew(lease));
  now += 9000;
  EXPECT_EQ(take_kernel(other), "") << "a heartbeat prolongs it";
  now += 1000;
  EXPECT_EQ(take_kernel(other), "k") << "the worker is gone";
  EXPECT_EQ(state("k"), JobState::running);
  EXPECT_EQ(*store().take_withdrawn(lease.worker), std::vector{api::job_name(wish("k"))});
  EXPECT_TRUE(store().take_withdrawn(lease.worker)->empty()) << "it is told once";
}

TEST_P(JobStoreContract, GivesAsManyJobsAtOnceAsAWorkerAsksFor) {
  api::Submission urgent = wish("urgent");
  urgent.priority = api::Priority::high;
  submit({wish("first"), wish("second"), wish("third"), urgent});
  const auto kernels = [&](int most) {
    std::vector<std::string> names;
    const auto taken = store().take(lease, most);
    EXPECT_TRUE(taken);
    for (const api::Submission& one : *taken) names.push_back(one.job.kernel);
    return names;
  };
  EXPECT_EQ(kernels(2), (std::vector<std::string>{"urgent", "first"}));
  EXPECT_EQ(store().counts()->running, 2);
  EXPECT_EQ(kernels(9), (std::vector<std::string>{"second", "third"}));
  EXPECT_TRUE(kernels(9).empty());
  now += lease.span.count();
  EXPECT_EQ(take_kernel({.worker = "other", .span = lease.span}), "urgent") << "each has a lease";
}

TEST_P(JobStoreContract, GivesNoWorkerItsOwnJobOnceMore) {
  submit({wish("k", "ann")});
  EXPECT_EQ(take_kernel(), "k");
  now += 2 * lease.span.count();  // the worker was held up, and asks on
  EXPECT_EQ(take_kernel(), "") << "it has this job";
  EXPECT_TRUE(store().take_withdrawn(lease.worker)->empty());
}

TEST_P(JobStoreContract, GivesAJobOnlyToAWorkerWithTheDeviceThatItNeeds) {
  api::Submission fast = wish("fast"), gpu = wish("gpu"), any = wish("any");
  fast.job.device = "NVIDIA H200";
  gpu.job.backend = Backend::replay;
  any.priority = api::Priority::low;
  submit({fast, gpu, any});
  const Lease cpu{.worker = "cpu", .span = lease.span, .devices = {"cpu"}};
  const Lease h100{.worker = "h100", .span = lease.span, .devices = {"gpu", "NVIDIA H100"}};
  const Lease h200{.worker = "h200", .span = lease.span, .devices = {"gpu", "NVIDIA H200"}};
  EXPECT_EQ(take_kernel(cpu), "any");
  store().give_back("cpu", api::job_name(any));
  EXPECT_EQ(take_kernel(h100), "gpu") << "it is more urgent than the job for any device";
  EXPECT_EQ(take_kernel(h100), "any");
  EXPECT_EQ(take_kernel(h100), "");
  EXPECT_EQ(store().counts()->queued.at(api::Priority::normal), 1);
  reopened();
  EXPECT_EQ(take_kernel(cpu), "any") << "the restart has ended the leases";
  EXPECT_EQ(take_kernel(cpu), "");
  EXPECT_EQ(take_kernel(h200), "fast");
}

TEST_P(JobStoreContract, KnowsItsWorkersUntilTheyDepart) {
  ASSERT_TRUE(store().reports().announce(lease, {.host = "h", .devices = {"gpu"}, .at_once = 4}));
  const auto workers = store().reports().workers();
  ASSERT_EQ(workers->size(), 1U);
  EXPECT_EQ(workers->at(0).name, lease.worker);
  EXPECT_EQ(workers->at(0).host, "h");
  EXPECT_EQ(workers->at(0).devices, std::vector<std::string>{"gpu"});
  EXPECT_EQ(workers->at(0).seen_ms, now);
  ASSERT_TRUE(store().reports().depart(lease.worker));
  EXPECT_TRUE(store().reports().workers()->empty());
}

TEST_P(JobStoreContract, KeepsTheFirstVerdictOfAJobThatTwoWorkersHad) {
  const Lease other{.worker = "worker-2", .span = lease.span};
  submit({wish("k", "ann")});
  take_kernel();
  now += lease.span.count();
  take_kernel(other);
  // the first worker is done after all
  conclude_by(lease.worker, "k", api::failed_verdict(Stage::ran, ErrorClass::wrong_value));
  EXPECT_EQ(*store().take_withdrawn(other.worker), std::vector{api::job_name(wish("k"))});
  conclude_by(other.worker, "k", api::accepted_verdict());
  EXPECT_NE(view("k").verdict.find("wrong_value"), std::string::npos);
  EXPECT_EQ(events("ann").size(), 1U);
}

TEST_P(JobStoreContract, LetsNobodyGiveBackWhatAnotherHas) {
  const Lease other{.worker = "worker-2", .span = lease.span};
  submit({wish("k")});
  take_kernel();
  store().give_back(other.worker, api::job_name(wish("k")));
  EXPECT_EQ(state("k"), JobState::running);
  store().give_back(lease.worker, api::job_name(wish("k")));
  EXPECT_EQ(state("k"), JobState::queued);
}

TEST_P(JobStoreContract, KeepsASubmitterWithinItsShareEvenAfterARestart) {
  const Submitter ann{.name = "ann", .unfinished = 2}, bob{.name = "bob", .unfinished = 2};
  const auto send = [&](const Submitter& submitter, const std::vector<api::Submission>& wishes) {
    const auto sent = store().submit(wishes, submitter);
    EXPECT_TRUE(sent);
    const auto* full = std::get_if<JobStoreFull>(&*sent);
    return full == nullptr
               ? ""
               : fmt::format("{} of {} of {}", full->unfinished, full->limit, full->submitter);
  };
  EXPECT_EQ(send(ann, {wish("a"), wish("b")}), "");
  EXPECT_EQ(send(ann, {wish("c")}), "2 of 2 of ann");
  EXPECT_EQ(send(ann, {wish("a")}), "") << "a repeat needs no room";
  EXPECT_EQ(send(bob, {wish("a"), wish("c"), wish("d")}), "")
      << "a job counts for its first sender";
  reopened();
  EXPECT_EQ(send(ann, {wish("e")}), "2 of 2 of ann");
  take_kernel();
  conclude("a");
  EXPECT_EQ(send(ann, {wish("e")}), "");
  EXPECT_TRUE(*store().cancel(api::job_name(wish("b")), ""));
  EXPECT_EQ(send(ann, {wish("f")}), "");
}

TEST_P(JobStoreContract, FindsAJobByItsNewestAlias) {
  submit({wish("a"), wish("b")});
  ASSERT_TRUE(store().aliases().remember("task-1", api::job_name(wish("a"))));
  ASSERT_TRUE(store().aliases().remember("task-1", api::job_name(wish("b"))));
  EXPECT_EQ(*store().aliases().find("task-1"), api::job_name(wish("b")));
  EXPECT_EQ(*store().aliases().find("task-2"), "");
}

TEST_P(JobStoreContract, ComparesAGpuWithItsFirstCalibrationOfTheSameVersion) {
  const Calibration first{.version = 1, .compute_ms = 2, .memory_ms = 1};
  const Calibration slower{.version = 1, .compute_ms = 3, .memory_ms = 1};
  const Calibration newer{.version = 2, .compute_ms = 9, .memory_ms = 9};
  EXPECT_DOUBLE_EQ(store().gpus().first_calibration("GPU-1", first)->compute_ms, 2);
  reopened();
  EXPECT_DOUBLE_EQ(store().gpus().first_calibration("GPU-1", slower)->compute_ms, 2);
  EXPECT_DOUBLE_EQ(store().gpus().first_calibration("GPU-2", slower)->compute_ms, 3);
  EXPECT_DOUBLE_EQ(store().gpus().first_calibration("GPU-1", newer)->compute_ms, 9);
  ASSERT_TRUE(store().gpus().clear("GPU-2", FirstCalibration::keep));
  EXPECT_DOUBLE_EQ(store().gpus().first_calibration("GPU-2", first)->compute_ms, 3);
  ASSERT_TRUE(store().gpus().clear("GPU-2", FirstCalibration::anew));
  EXPECT_DOUBLE_EQ(store().gpus().first_calibration("GPU-2", first)->compute_ms, 2);
}

TEST_P(JobStoreContract, KeepsAGpuInQuarantineUntilAnOperatorClearsIt) {
  EXPECT_FALSE(*store().gpus().clear("GPU-1", FirstCalibration::keep));
  ASSERT_TRUE(store().gpus().quarantine(sick_gpu()));
  const std::int64_t since = now;
  reopened();
  QuarantinedGpu other = sick_gpu();
  other.reason = "another one";
  ASSERT_TRUE(store().gpus().quarantine(other));
  const auto held = store().gpus().quarantined();
  ASSERT_TRUE(held) << held.error().message;
  ASSERT_EQ(held->size(), 1U);
  EXPECT_EQ(held->at(0).gpu, "GPU-1");
  EXPECT_EQ(held->at(0).host, "h");
  EXPECT_EQ(held->at(0).reason, "Xid 48") << "the first reason stays";
  EXPECT_EQ(held->at(0).since_ms, since);
  EXPECT_EQ(store().counts()->quarantined_gpus, 1);
  EXPECT_TRUE(*store().gpus().clear("GPU-1", FirstCalibration::keep));
  EXPECT_TRUE(store().gpus().quarantined()->empty());
  EXPECT_EQ(store().counts()->quarantined_gpus, 0);
}

TEST_P(JobStoreContract, GivesAWorkerNothingWhileOneOfItsGpusIsInQuarantine) {
  submit({wish("k")});
  ASSERT_TRUE(store().gpus().quarantine(sick_gpu()));
  const Lease both{.worker = "both", .span = lease.span, .gpus = {"GPU-2", "GPU-1"}};
  const Lease sound{.worker = "sound", .span = lease.span, .gpus = {"GPU-2"}};
  EXPECT_EQ(take_kernel(both), "");
  EXPECT_EQ(take_kernel(sound), "k");
  store().give_back("sound", api::job_name(wish("k")));
  ASSERT_TRUE(store().gpus().clear("GPU-1", FirstCalibration::keep));
  EXPECT_EQ(take_kernel(both), "k");
}

TEST_P(JobStoreContract, DropsAVerdictThatComesFromAGpuInQuarantineAndQueuesItsJobAgain) {
  submit({wish("k", "ann")});
  take_kernel();
  ASSERT_TRUE(store().gpus().quarantine(sick_gpu()));
  conclude_on("GPU-1", "k", api::accepted_verdict());
  EXPECT_EQ(state("k"), JobState::queued);
  EXPECT_TRUE(events("ann").empty());
  EXPECT_EQ(take_kernel(), "k");
  conclude_on("GPU-2", "k", api::accepted_verdict());
  EXPECT_EQ(events("ann").size(), 1U);
}

TEST_P(JobStoreContract, JudgesTheLastVerdictsOfAGpuInQuarantineAgain) {
  submit({wish("old", "ann"), wish("doubtful", "ann"), wish("sound", "ann")});
  for (int k = 0; k < 3; ++k) take_kernel();
  conclude_on("GPU-1", "old", api::accepted_verdict());
  now += 60'000;
  ASSERT_TRUE(store().gpus().vindicate("GPU-1", Milliseconds(1000)));
  conclude_on("GPU-1", "doubtful", api::accepted_verdict());
  conclude_on("GPU-2", "sound", api::accepted_verdict());
  const auto doubted = store().gpus().quarantine(sick_gpu());
  ASSERT_TRUE(doubted) << doubted.error().message;
  EXPECT_EQ(*doubted, 1);
  EXPECT_EQ(store().gpus().quarantined()->at(0).doubted_jobs, 1);
  EXPECT_EQ(state("old"), JobState::done);
  EXPECT_EQ(state("sound"), JobState::done);
  EXPECT_EQ(state("doubtful"), JobState::queued);
  EXPECT_EQ(view("doubtful").doubt, "GPU-1: Xid 48");
  EXPECT_EQ(view("doubtful").verdict, "");
  const Lease alike{.worker = "alike", .span = lease.span, .devices = {"gpu", "NVIDIA H200"}};
  const Lease slower{.worker = "slower", .span = lease.span, .devices = {"gpu", "NVIDIA A100"}};
  EXPECT_EQ(take_kernel(slower), "") << "times of two classes are never compared";
  EXPECT_EQ(take_kernel(alike), "doubtful");
  EXPECT_EQ(state("doubtful"), JobState::running);
}

// The store does not know whether ann has fetched the first verdict.
TEST_P(JobStoreContract, TellsNoClientTwiceOfAJobThatIsJudgedAgain) {
  submit({wish("k", "ann"), wish("later", "ann")});
  take_kernel();
  take_kernel();
  conclude_on("GPU-1", "k", api::accepted_verdict());
  conclude_on("GPU-2", "later", api::accepted_verdict());
  const auto before = events("ann");
  ASSERT_EQ(before.size(), 2U);
  ASSERT_TRUE(store().gpus().quarantine(sick_gpu()));
  EXPECT_EQ(events("ann").size(), 2U) << "a client that has yet to fetch it must not miss it";
  EXPECT_TRUE(events("ann", before.at(1).number).empty());
  EXPECT_EQ(submit({wish("k", "bob")}).at(0).state, JobState::queued) << "bob gets the next one";
  EXPECT_TRUE(events("bob").empty());
  take_kernel();
  conclude_on("GPU-2", "k", api::failed_verdict(Stage::ran, ErrorClass::wrong_value));
  EXPECT_EQ(state("k"), JobState::done);
  EXPECT_EQ(view("k").doubt, "");
  EXPECT_NE(view("k").verdict.find("wrong_value"), std::string::npos);
  const auto after = events("ann");
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after.at(0).number, before.at(0).number) << "one event, whichever verdict it has";
  EXPECT_NE(after.at(0).verdict.find("wrong_value"), std::string::npos);
  ASSERT_EQ(events("bob").size(), 1U);
  EXPECT_NE(events("bob").at(0).verdict.find("wrong_value"), std::string::npos);
  EXPECT_EQ(store().counts()->judged_again, 1);
}

TEST_P(JobStoreContract, KeepsJobsInDoubtThroughARestart) {
  submit({wish("k", "ann")});
  take_kernel();
  conclude_on("GPU-1", "k", api::accepted_verdict());
  ASSERT_TRUE(store().gpus().quarantine(sick_gpu()));
  reopened();
  EXPECT_EQ(view("k").doubt, "GPU-1: Xid 48");
  EXPECT_EQ(take_kernel(), "k");
  conclude_on("GPU-2", "k", api::accepted_verdict());
  EXPECT_EQ(events("ann").size(), 1U);
}

TEST_P(JobStoreContract, WakesThoseWhoWaitForAChange) {
  const std::uint64_t seen = store().changes();
  std::jthread submitting([this] { submit({wish("k")}); });
  store().wait_for_change(seen, Deadline::after(std::chrono::seconds(20)));
  EXPECT_NE(store().changes(), seen);
}

std::unique_ptr<JobStore> open_sqlite(const StoreSetup& setup) {
  auto opened =
      SqliteJobStore::open(setup.directory / "jobs.sqlite", setup.limits, setup.recall, setup.now);
  EXPECT_TRUE(opened) << opened.error().message;
  return *std::move(opened);
}

// One server a folder, which outlives the stores of a test.
std::unique_ptr<JobStore> open_redis(const StoreSetup& setup) {
  static std::pair<std::filesystem::path, std::unique_ptr<RedisServer>> last;
  if (last.first != setup.directory)
    last = {setup.directory, std::make_unique<RedisServer>(setup.directory)};
  auto opened = RedisJobStore::open({.address = last.second->address(),
                                     .limits = setup.limits,
                                     .version = "17",
                                     .recall = setup.recall,
                                     .now = setup.now});
  EXPECT_TRUE(opened) << opened.error().message;
  return *std::move(opened);
}

INSTANTIATE_TEST_SUITE_P(Stores, JobStoreContract,
                         ::testing::Values(StoreKind{"Sqlite", open_sqlite},
                                           StoreKind{"Redis", open_redis}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tritonsmith::gym::service
