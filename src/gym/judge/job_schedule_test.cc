#include "gym/judge/job_schedule.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::judge {
namespace {

JobProgress job_with(std::uint64_t id, const std::string& key = "") {
  JobProgress job{.serial = id, .key = key.empty() ? std::to_string(id) : key};
  job.job.id = id;
  job.task_key = "task of " + job.key;
  return job;
}

std::uint64_t start_next(JobSchedule& schedule) {
  auto next = schedule.next();
  return next ? schedule.run(*std::move(next)).job.id : 0;
}

TEST(JobSchedule, StartsJobsInOrderUpToItsLimit) {
  JobSchedule schedule(2);
  for (std::uint64_t id = 1; id <= 3; ++id) schedule.add(job_with(id));
  EXPECT_EQ(start_next(schedule), 1u);
  EXPECT_EQ(start_next(schedule), 2u);
  EXPECT_EQ(start_next(schedule), 0u);
  schedule.retry(schedule.take(2));
  EXPECT_EQ(start_next(schedule), 2u) << "a retry comes before jobs that have not begun";
}

TEST(JobSchedule, AJobThatRunsAloneWaitsForTheOthersAndHoldsTheOthersBack) {
  JobSchedule schedule(8);
  schedule.add(job_with(1));
  EXPECT_EQ(start_next(schedule), 1u);
  schedule.retry_alone(job_with(2));
  schedule.add(job_with(3));
  EXPECT_EQ(start_next(schedule), 0u);
  schedule.take(1);
  EXPECT_EQ(start_next(schedule), 2u);
  EXPECT_TRUE(schedule.find(2)->alone);
  EXPECT_EQ(start_next(schedule), 0u);
  schedule.take(2);
  EXPECT_EQ(start_next(schedule), 3u);
}

TEST(JobSchedule, EqualJobsFollowTheFirstUntilNobodyWantsIt) {
  JobSchedule schedule(1);
  schedule.add(job_with(1, "k"));
  EXPECT_FALSE(schedule.follow_an_equal_one(job_with(2, "other")));
  EXPECT_TRUE(schedule.follow_an_equal_one(job_with(2, "k")));
  EXPECT_TRUE(schedule.withdraw(1).is_known);
  EXPECT_FALSE(schedule.withdraw(1).is_known) << "it was withdrawn already";
  EXPECT_EQ(start_next(schedule), 1u) << "the follower still waits for it";
  const auto withdrawn = schedule.withdraw(2);
  EXPECT_TRUE(withdrawn.is_known);
  EXPECT_EQ(withdrawn.idle, schedule.find(1));
}

TEST(JobSchedule, AWaitingJobThatNobodyWantsNeverStarts) {
  JobSchedule schedule(1);
  schedule.add(job_with(1));
  schedule.retry_alone(job_with(2));
  for (const std::uint64_t id : {1u, 2u}) {
    const auto withdrawn = schedule.withdraw(id);
    EXPECT_TRUE(withdrawn.is_known);
    EXPECT_EQ(withdrawn.idle, nullptr);
  }
  EXPECT_EQ(start_next(schedule), 0u);
  EXPECT_FALSE(schedule.withdraw(9).is_known);
}

TEST(JobSchedule, KnowsTheTasksOfRunningJobs) {
  JobSchedule schedule(1);
  schedule.add(job_with(1));
  EXPECT_FALSE(schedule.runs_task("task of 1"));
  start_next(schedule);
  EXPECT_TRUE(schedule.runs_task("task of 1"));
}

}  // namespace
}  // namespace tritonsmith::gym::judge
