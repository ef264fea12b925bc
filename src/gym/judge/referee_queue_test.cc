#include "gym/judge/referee_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace tritonsmith::gym::judge {
namespace {

TEST(RefereeQueue, GivesEachRefereeWhatAnyMayRunAndWhatItAloneWasAsked) {
  RefereeQueue queue;
  queue.push({.serial = 1, .only = 1});
  queue.push({.serial = 2});
  queue.push({.serial = 3, .only = 0});
  EXPECT_EQ(queue.pop(0)->serial, 2u);
  EXPECT_EQ(queue.pop(0)->serial, 3u);
  EXPECT_EQ(queue.pop(1)->serial, 1u);
}

TEST(RefereeQueue, WakesTheOneThatIsAskedWhoeverElseWaits) {
  RefereeQueue queue;
  std::optional<RefereeWork> first, second;
  {
    std::jthread other([&] { first = queue.pop(0); });
    std::jthread asked([&] { second = queue.pop(1); });
    queue.push({.serial = 7, .only = 1});
    asked.join();
    queue.close();
  }
  EXPECT_FALSE(first);
  EXPECT_EQ(second->serial, 7u);
}

TEST(RefereeQueue, GivesUpAtTheDeadlineWithoutBeingClosed) {
  RefereeQueue queue;
  EXPECT_FALSE(queue.pop(0, Deadline::after(std::chrono::milliseconds(1))));
  EXPECT_FALSE(queue.is_closed());
  queue.push({.serial = 1});
  EXPECT_TRUE(queue.pop(0, Deadline::after(std::chrono::milliseconds(0))))
      << "what is there is given out though the time is up";
}

TEST(RefereeQueue, IsDrainedAfterItWasClosed) {
  RefereeQueue queue;
  queue.push({.serial = 1});
  queue.close();
  queue.push({.serial = 2});
  EXPECT_EQ(queue.pop(0)->serial, 1u);
  EXPECT_FALSE(queue.pop(0));
}

}  // namespace
}  // namespace tritonsmith::gym::judge
