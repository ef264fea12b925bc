// Measures the queue of a gym on many hosts, with judges that answer after a given time.
//
//   redis-server --port 6379 --appendonly yes --appendfsync always &
//   build/tritonsmith gym serve --store redis://127.0.0.1:6379 --listen 127.0.0.1:8800 &
//   build/bench/many_hosts redis://127.0.0.1:6379 http://127.0.0.1:8800 [milliseconds of a verdict] [seconds]
//
// The real Redis, API server, dispatchers and client take part; only the judge is a fake. It prints the
// rate of 1 to 64 workers that have one job at a time, and what the queue adds to the time of a
// single job. With 0 milliseconds one worker takes 64 jobs at a time.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "gym/remote/remote_judge.h"
#include "gym/service/job_dispatcher.h"
#include "gym/service/redis/redis_job_store.h"

namespace tritonsmith {
namespace {

// Ends each job a fixed time after it came.
class TimedJudge : public gym::api::Judge {
 public:
  explicit TimedJudge(Milliseconds span) : span_(span) {}
  Status submit(gym::api::JudgeJob job) override {
    jobs_.push_back({job.id, Deadline::after(span_)});
    return ok();
  }
  Result<std::optional<gym::api::Judged>> next(Deadline deadline) override {
    if (jobs_.empty()) return std::optional<gym::api::Judged>();
    std::this_thread::sleep_until(std::min(jobs_.front().ends.at(), deadline.at()));
    if (!jobs_.front().ends.passed()) return std::optional<gym::api::Judged>();
    gym::api::Judged judged{.id = jobs_.front().id};
    judged.verdict.accepted = judged.verdict.correct = judged.verdict.compiled = true;
    judged.verdict.stage = Stage::timed;
    jobs_.pop_front();
    return std::optional(std::move(judged));
  }
  void cancel(std::uint64_t id) override {
    std::erase_if(jobs_, [&](const Job& job) { return job.id == id; });
  }

 private:
  struct Job {
    std::uint64_t id;
    Deadline ends;
  };
  Milliseconds span_;
  std::deque<Job> jobs_;
};

// The store, the judge and the thread of one `gym work`.
struct Worker {
  Worker(const gym::service::RedisAddress& address, Milliseconds span, int at_once)
      : store(*gym::service::RedisJobStore::open(
            {.address = address, .waits_for = gym::service::WaitsFor::work})),
        dispatcher(
            *store,
            [span](const std::stop_token&) {
              return Result<std::unique_ptr<gym::api::Judge>>(std::make_unique<TimedJudge>(span));
            },
            {.at_once = at_once,
             .host = "fake",
             .version = "0",
             .devices = {"cpu"},
             .is_alone = false},
            metrics) {}
  gym::service::ServiceMetrics metrics;
  std::unique_ptr<gym::service::RedisJobStore> store;
  gym::service::JobDispatcher dispatcher;
};

// Jobs of a usual size that nobody sent before.
class FreshJobs {
 public:
  gym::api::JudgeJob next() {
    ++number_;
    return {.id = number_,
            .task = {.id = "task", .source = std::string(1000, '#')},
            .kernel = fmt::format("# {} {}\n{}", mark_, number_, std::string(2000, '#'))};
  }

 private:
  std::int64_t mark_ = system_clock().now().time_since_epoch().count();
  std::uint64_t number_ = 0;
};

std::unique_ptr<gym::api::Judge> client_of(const std::string& api_server, int queue) {
  auto client = gym::remote::RemoteJudge::open({.url = api_server, .queue = queue});
  CHECK(client, "{}", client.error().message);
  return *std::move(client);
}

double verdicts_per_second(gym::api::Judge& client, FreshJobs& jobs, int in_flight,
                           double seconds) {
  for (int k = 0; k < in_flight; ++k)
    CHECK(client.submit(jobs.next()), "the API server takes a job");
  int done = 0;
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    const auto judged = client.next(Deadline::in_seconds(60));
    CHECK(judged && *judged, "the API server gives a verdict");
    ++done;
    CHECK(client.submit(jobs.next()), "the API server takes a job");
  }
  const double rate = done / watch.seconds();
  for (int k = 0; k < in_flight; ++k)
    CHECK(client.next(Deadline::in_seconds(60)), "the API server gives a verdict");
  return rate;
}

std::vector<double> milliseconds_of_single_jobs(gym::api::Judge& client, FreshJobs& jobs,
                                                int count) {
  std::vector<double> times;
  for (int k = 0; k < count; ++k) {
    const Stopwatch watch;
    CHECK(client.submit(jobs.next()), "the API server takes a job");
    CHECK(client.next(Deadline::in_seconds(60)), "the API server gives a verdict");
    times.push_back(1e3 * watch.seconds());
  }
  std::ranges::sort(times);
  return times;
}

void measure(const gym::service::RedisAddress& address, const std::string& api_server,
             Milliseconds span, double seconds) {
  FreshJobs jobs;
  const bool at_once = span.count() == 0;
  for (const int count : at_once ? std::vector{1, 2} : std::vector{1, 2, 4, 8, 16, 32, 64}) {
    std::vector<std::unique_ptr<Worker>> workers;
    for (int k = 0; k < count; ++k)
      workers.push_back(std::make_unique<Worker>(address, span, at_once ? 64 : 1));
    if (count == 1) {
      const auto client = client_of(api_server, 1);
      const auto times = milliseconds_of_single_jobs(*client, jobs, 200);
      const auto added = [&](std::size_t share) {
        return times[times.size() * share / 100] - static_cast<double>(span.count());
      };
      fmt::print(
          "a single job takes longer than its judge by: median {:.1f} ms, 90 % {:.1f} ms, 99 % "
          "{:.1f} ms\n",
          added(50), added(90), added(99));
    }
    const int in_flight = at_once ? 512 : 4 * count;
    const auto client = client_of(api_server, in_flight + 1);
    fmt::print("{:3} workers: {:7.1f} verdicts/s\n", count,
               verdicts_per_second(*client, jobs, in_flight, seconds));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace tritonsmith

int main(int count, char** words) {
  using namespace tritonsmith;
  if (count < 3) {
    fmt::print(stderr,
               "usage: many_hosts redis://HOST:PORT http://HOST:PORT [milliseconds] [seconds]\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const auto address = gym::service::parse_redis_address(words[1]);
  CHECK(address, "{}", address.error().message);
  measure(*address, words[2], Milliseconds(count > 3 ? std::atoi(words[3]) : 20),
          count > 4 ? std::atof(words[4]) : 5);
}
