#include "gym/service/http/connection_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <set>
#include <thread>

namespace tritonsmith::gym::service {
namespace {

TEST(ConnectionThreads, GivesAThreadThatIsDoneTheNextConnection) {
  ConnectionThreads threads(4);
  std::set<std::thread::id> used;
  for (int i = 0; i < 5; ++i) {
    std::promise<std::thread::id> served;
    threads.enqueue([&] { served.set_value(std::this_thread::get_id()); });
    used.insert(served.get_future().get());
    while (threads.idle() == 0) std::this_thread::yield();
  }
  EXPECT_EQ(used.size(), 1U);
}

TEST(ConnectionThreads, ServesConnectionsAtTheSameTimeUpToItsLimit) {
  ConnectionThreads threads(3);
  for (int round = 0; round < 3; ++round) {
    std::latch all(3), ended(3);
    for (int i = 0; i < 3; ++i)
      threads.enqueue([&] {
        EXPECT_FALSE(ConnectionThreads::is_shedding());
        all.arrive_and_wait();  // each needs a thread of its own
        ended.count_down();
      });
    ended.wait();
    while (threads.idle() < 3) std::this_thread::yield();
  }
}

TEST(ConnectionThreads, LetsOneThreadRefuseWhatIsBeyondItsLimit) {
  std::promise<void> open;
  std::promise<bool> beyond;
  ConnectionThreads threads(1);  // its end waits for both connections
  threads.enqueue([&] { open.get_future().wait(); });
  threads.enqueue([&] { beyond.set_value(ConnectionThreads::is_shedding()); });
  EXPECT_TRUE(beyond.get_future().get());
  open.set_value();
}

TEST(ConnectionThreads, ServesWhatHasComeBeforeItEnds) {
  std::atomic<int> served = 0;
  {
    ConnectionThreads threads(8);
    for (int i = 0; i < 8; ++i) threads.enqueue([&] { ++served; });
  }
  EXPECT_EQ(served, 8);
}

}  // namespace
}  // namespace tritonsmith::gym::service
