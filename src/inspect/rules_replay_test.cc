// Answers from earlier calls, and work that nothing waits for, beside what only looks like them.
#include <gtest/gtest.h>

#include <string>

#include "inspect/testing/candidates.h"

namespace tritonsmith::inspect {
namespace {

TEST(Replays, RejectsAnswersFromEarlierCalls) {
  const auto body = [](const std::string& forward) {
    return rejects(kImports + kKernel + model(forward));
  };
  EXPECT_EQ(body("if x.data_ptr() in self.known:\n    return self.known[x.data_ptr()]\n"
                 "y = torch.empty_like(x)\n" +
                 kLaunch + "self.known[x.data_ptr()] = y\nreturn y\n"),
            Rules{"replays_results"});
  EXPECT_EQ(body("if self.out is None:\n    self.out = y = torch.empty_like(x)\n    " + kLaunch +
                 "return self.out\n"),
            Rules{"replays_results"});
  // A buffer that is kept, but filled each time; weights packed once.
  EXPECT_EQ(body("if self.out is None:\n    self.out = torch.empty_like(x)\ny = self.out\n" +
                 kLaunch + "return self.out\n"),
            Rules{});
  EXPECT_EQ(body("if self.packed is None:\n    self.packed = torch.empty_like(x)\n    "
                 "add_kernel[(1,)](x, self.packed, 4, BLOCK=4)\ny = torch.empty_like(x)\n" +
                 kLaunch + "return y\n"),
            Rules{});
  EXPECT_EQ(body("if x.numel() == 0:\n    return torch.empty_like(x)\ny = torch.empty_like(x)\n" +
                 kLaunch + "return y\n"),
            Rules{});
}

TEST(Replays, RejectsStreamsThatNothingWaitsFor) {
  const std::string side =
      "y = torch.empty_like(x)\nwith torch.cuda.stream(self.side):\n    " + kLaunch;
  EXPECT_EQ(rejects(kImports + kKernel + model(side + "return y\n")), Rules{"unjoined_stream"});
  EXPECT_EQ(rejects(kImports + kKernel +
                    model(side + "torch.cuda.current_stream().wait_stream(self.side)\nreturn y\n")),
            Rules{});
  const auto on = [](const std::string& before) {
    return rejects(kImports + kKernel +
                   model("y = torch.empty_like(x)\n" + before + "with torch.cuda.stream(s):\n    " +
                         kLaunch + "return y\n"));
  };
  const std::string current = "s = torch.cuda.current_stream()\n";
  EXPECT_EQ(on(current), Rules{});
  EXPECT_EQ(on("s = torch.cuda.default_stream(x.device)\n"), Rules{});
  EXPECT_EQ(on(current + "s = torch.cuda.Stream()\n"), Rules{"unjoined_stream"});
  EXPECT_EQ(on(current + "if x.numel():\n    s, t = torch.cuda.Stream(), 1\n"),
            Rules{"unjoined_stream"});
  EXPECT_EQ(on("current_stream = torch.cuda.Stream()\ns = current_stream\n"),
            Rules{"unjoined_stream"});
}

}  // namespace
}  // namespace tritonsmith::inspect
