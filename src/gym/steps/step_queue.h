// StepQueue: the steps that wait for a capturing host, on the Redis server of the job store. Judges
// ask for steps and collect the results. Capturing hosts take steps by leases, which work as those
// of jobs do (service/job_store.h). It moves texts, and does not know what is in them: each side
// seals what it writes. Any thread may call it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gym/service/redis/change_listener.h"
#include "gym/service/redis/redis_client.h"

namespace tritonsmith::gym::steps {

struct StepQueueConfig {
  service::RedisAddress address;
  // All keys begin with it, so a capturing host needs access to no others.
  std::string prefix = "{tritonsmith}:steps:";
  Milliseconds patience = std::chrono::seconds(15);  // as of RedisJobStoreConfig
};

// A step that somebody asked for.
struct AskedStep {
  std::string name;     // unique
  std::string shared;   // names the results of equal steps; empty: there are none
  std::string request;  // sealed
};

struct TakenStep {
  std::string name, shared, request;
};

struct FinishedStep {
  std::string name, reply;
  std::string shared, shared_reply;  // for those who ask for an equal step; empty: none
};

// The replies to the steps that a judge waits for.
struct Collected {
  std::map<std::string, std::string> replies;  // by name
  std::vector<std::string> lost;               // steps that the store does not know
  int hosts = 0;                               // capturing hosts that are alive
};

class StepQueue {
 public:
  explicit StepQueue(StepQueueConfig config);

  // Judges call these.
  //
  // Returns the reply to an equal step if there is one, and else queues the step.
  Result<std::optional<std::string>> ask(const AskedStep& step);
  Result<Collected> collect(const std::vector<std::string>& names);
  // Removes a step for which no judge waits any more.
  Status withdraw(const std::string& name);
  // Returns what the living hosts announced.
  Result<std::map<std::string, std::string>> announcements();

  // Capturing hosts call these.
  //
  // Takes the step that waited longest, or one whose lease has ended. It first renews the leases of
  // the steps in `held`.
  Result<std::optional<TakenStep>> take(Milliseconds lease, const std::vector<std::string>& held);
  Status finish(const FinishedStep& step);
  Status announce(const std::string& host, Milliseconds span, const std::string& text);
  Status depart(const std::string& host);

  // The changes that any program makes here.
  const service::ChangeListener& changes() const { return listener_; }
  void notify() { listener_.count_change(); }

 private:
  service::RedisClient client_;
  service::ChangeListener listener_;
};

}  // namespace tritonsmith::gym::steps
