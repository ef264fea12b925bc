// Jobs per second and added latency of one door and one Redis store, with judges that need no
// processor time. Everything but Redis runs in this program: the door, the workers and a client.
//
//   job_store_throughput STORE [jobs] [milliseconds of a job] [workers...]
//
// STORE is redis://HOST:PORT or unix:FILE, of an empty server. A job of 0 ms is answered at once.
// For each number of workers it prints the rate with many jobs in flight, and the median time of a
// job that has the gym to itself, less the judge's own time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>

#include "gym/remote/remote_judge.h"
#include "gym/service/http/http_server.h"
#include "gym/service/job_dispatcher.h"
#include "gym/service/redis/redis_job_store.h"

namespace tritonsmith::gym {
namespace {

using Milliseconds = std::chrono::milliseconds;

// Judges one job at a time, each in a fixed time, and finds every kernel right.
class TimedJudge : public api::Judge {
 public:
  explicit TimedJudge(Milliseconds of_a_job) : of_a_job_(of_a_job) {}

  Status submit(api::JudgeJob job) override {
    const TimePoint now = system_clock().now();
    ready_ = std::max(ready_, now) + of_a_job_;
    waiting_.push_back({job.id, ready_});
    return ok();
  }
  Result<std::optional<api::Judged>> next(Deadline deadline) override {
    if (waiting_.empty()) return std::optional<api::Judged>();
    const auto [id, ready] = waiting_.front();
    std::this_thread::sleep_until(std::min(ready, deadline.at()));
    if (ready > deadline.at()) return std::optional<api::Judged>();
    waiting_.pop_front();
    Verdict verdict;
    verdict.stage = Stage::correct;
    verdict.compiled = verdict.correct = verdict.accepted = true;
    return std::optional(api::Judged{.id = id, .verdict = std::move(verdict)});
  }
  void cancel(std::uint64_t id) override {
    std::erase_if(waiting_, [&](const auto& job) { return job.first == id; });
  }

 private:
  Milliseconds of_a_job_;
  TimePoint ready_;
  std::deque<std::pair<std::uint64_t, TimePoint>> waiting_;
};

template <typename T>
T required(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().message);
  std::exit(1);
}

// A gym of one door and some workers.
class Gym {
 public:
  Gym(const std::string& url, int workers, Milliseconds of_a_job) : door_store_(store(url)) {
    for (int k = 0; k < workers; ++k) {
      worker_stores_.push_back(store(url));
      dispatchers_.push_back(std::make_unique<service::JobDispatcher>(
          *worker_stores_.back(),
          [of_a_job](const std::stop_token&) -> Result<std::unique_ptr<api::Judge>> {
            return std::make_unique<TimedJudge>(of_a_job);
          },
          service::WorkerSettings{.at_once = of_a_job.count() == 0 ? 64 : 2}, metrics_));
    }
    service_.emplace(*door_store_, service::health_of_workers(*door_store_), metrics_,
                     api::SubmissionLimits{});
    server_ =
        required(service::HttpServer::start({.address = {"127.0.0.1", 0}}, *service_, metrics_));
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_->port()); }

 private:
  static std::unique_ptr<service::RedisJobStore> store(const std::string& url) {
    return required(service::RedisJobStore::open(
        {.address = required(service::parse_redis_address(url)), .version = "bench"}));
  }
  service::ServiceMetrics metrics_;
  std::unique_ptr<service::RedisJobStore> door_store_;
  std::vector<std::unique_ptr<service::RedisJobStore>> worker_stores_;
  std::vector<std::unique_ptr<service::JobDispatcher>> dispatchers_;
  std::optional<service::Service> service_;
  std::unique_ptr<service::HttpServer> server_;
};

// As long as the usual task and kernel. No two are equal, or the store would answer the second one.
api::JudgeJob job(int number) {
  static const auto salt = system_clock().now().time_since_epoch().count();
  return {.id = static_cast<std::uint64_t>(number),
          .task = {.id = "task", .source = std::string(600, 't')},
          .kernel = fmt::format("{}{:x}-{}", std::string(2000, 'k'), salt, number)};
}

double jobs_per_second(api::Judge& judge, int first, int jobs) {
  const Stopwatch watch;
  int sent = 0, done = 0;
  while (done < jobs) {
    for (; sent < jobs && sent - done < 1000; ++sent)
      if (const Status status = judge.submit(job(first + sent)); !status) std::exit(1);
    while (required(judge.next(Deadline::after(Milliseconds(done + 500 < sent ? 100 : 1)))))
      if (++done + 500 < sent || done == jobs) break;
  }
  return jobs / watch.seconds();
}

double median_milliseconds(api::Judge& judge, int first, int jobs) {
  std::vector<double> times;
  for (int k = 0; k < jobs; ++k) {
    const Stopwatch watch;
    if (const Status status = judge.submit(job(first + k)); !status) std::exit(1);
    required(judge.next(Deadline::never()));
    times.push_back(watch.milliseconds());
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

void measure(const std::string& store, int jobs, Milliseconds of_a_job, int workers) {
  static int first = 0;  // of the numbers that no job has yet
  const Gym gym(store, workers, of_a_job);
  const auto judge = required(remote::RemoteJudge::open({.url = gym.url()}));
  constexpr int alone = 101;
  jobs_per_second(*judge, 0, 100);  // connections, scripts
  const double latency =
      median_milliseconds(*judge, 100, alone) - static_cast<double>(of_a_job.count());
  fmt::print("{:7} {:8} {:10.0f} {:14.1f}\n", workers, of_a_job.count(),
             jobs_per_second(*judge, first + 1000, jobs), latency);
  first += 1000 + jobs;
  std::fflush(stdout);
}

}  // namespace
}  // namespace tritonsmith::gym

int main(int count, char** arguments) {
  if (count < 2) {
    fmt::print(stderr, "usage: job_store_throughput STORE [jobs] [ms of a job] [workers...]\n");
    return 2;
  }
  const int jobs = count > 2 ? std::atoi(arguments[2]) : 20'000;
  const std::chrono::milliseconds of_a_job(count > 3 ? std::atoi(arguments[3]) : 0);
  fmt::print("{:>7} {:>8} {:>10} {:>14}\n", "workers", "ms a job", "jobs/s", "added ms alone");
  for (int k = 4; k < count || k == 4; ++k)
    tritonsmith::gym::measure(arguments[1], jobs, of_a_job,
                              k < count ? std::atoi(arguments[k]) : 4);
  return 0;
}
