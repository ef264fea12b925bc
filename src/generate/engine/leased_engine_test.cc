#include "generate/engine/leased_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/temp_dir.h"
#include "generate/testing/fake_engine.h"

namespace tritonsmith::generate::engine {
namespace {

// Decodes until another process has had the lease, as a long completion would.
class EndlessEngine : public FakeEngine {
 public:
  EndlessEngine(const std::atomic<bool>& is_over, int& settled)
      : FakeEngine([](const GenerationRequest&) { return std::vector<TokenId>{1}; }),
        is_over_(is_over),
        settled_(settled) {}
  Result<std::optional<Generated>> next_by(Deadline deadline) override {
    if (is_over_) return FakeEngine::next_by(deadline);
    while (!deadline.passed()) std::this_thread::yield();
    return std::optional<Generated>();
  }
  Status settle() override {
    ++settled_;
    return ok();
  }

 private:
  const std::atomic<bool>& is_over_;
  int& settled_;
};

class LeasedEngineTest : public ::testing::Test {
 protected:
  std::unique_ptr<Lease> open() {
    auto lease = Lease::open(folder_->path() / "gpu");
    if (!lease) ADD_FAILURE() << lease.error().message;
    return lease ? std::make_unique<Lease>(*std::move(lease)) : nullptr;
  }
  Result<TempDir> folder_ = TempDir::make("leased-engine-test");
};

TEST_F(LeasedEngineTest, GivesWayWhileItDecodesAndHoldsNothingBetweenCalls) {
  std::atomic<bool> timed = false;
  int settled = 0;
  LeasedEngine engine(std::make_unique<EndlessEngine>(timed, settled), std::move(*open()));
  ASSERT_TRUE(engine.submit({.id = 5, .prompt = {1}}));
  std::jthread referee([&, lease = open()] {
    timed = lease->take(Lease::Hold::alone, Deadline::after(std::chrono::seconds(20)));
  });
  const auto generated = engine.next();
  ASSERT_TRUE(generated);
  ASSERT_TRUE(generated->has_value());
  EXPECT_EQ((*generated)->id, 5U);
  EXPECT_TRUE(timed);
  EXPECT_GE(settled, 1) << "the device is done before others get it";
  referee.join();
  const auto other = open();
  EXPECT_TRUE(other->take(Lease::Hold::alone, Deadline::after(Milliseconds(0))));
}

TEST_F(LeasedEngineTest, WaitsOnceForALeaseThatIsNeverGivenBack) {
  const auto stuck = open();
  ASSERT_TRUE(stuck->take(Lease::Hold::alone, Deadline::after(Milliseconds(0))));
  const std::atomic<bool> over = true;
  int settled = 0;
  LeasedEngine engine(std::make_unique<EndlessEngine>(over, settled), std::move(*open()),
                      Milliseconds(300));
  const Stopwatch watch;
  ASSERT_TRUE(engine.submit({.id = 1, .prompt = {1}}));
  EXPECT_GE(watch.seconds(), 0.3);
  for (int look = 0; look < 20; ++look) ASSERT_TRUE(engine.next());
  EXPECT_LT(watch.seconds(), 5) << "each look would wait 0.3 s";
}

TEST_F(LeasedEngineTest, ComesBackByTheDeadlineAndWhenNothingIsInFlight) {
  const std::atomic<bool> never = false;
  int settled = 0;
  LeasedEngine busy(std::make_unique<EndlessEngine>(never, settled), std::move(*open()));
  ASSERT_TRUE(busy.submit({.id = 1, .prompt = {1}}));
  const auto late = busy.next_by(Deadline::after(Milliseconds(1)));
  ASSERT_TRUE(late);
  EXPECT_FALSE(late->has_value());
  const std::atomic<bool> over = true;
  LeasedEngine idle(std::make_unique<EndlessEngine>(over, settled), std::move(*open()));
  const auto nothing = idle.next();
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->has_value());
}

}  // namespace
}  // namespace tritonsmith::generate::engine
