// Answers from earlier calls, and work that is never waited for, together with honest code that
// resembles them.
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
  // An output buffer that is kept but filled in each call, and weights that are packed once.
  EXPECT_EQ(body("if self.out is None:\n    self.out = torch.empty_like(x)\ny = self.out\n" +
                 kLaunch + "return self.out\n"),
            Rules{});
  EXPECT_EQ(body("if self.packed is None:\n    self.packed = torch.empty_like(x)\n    "
                 "add_kernel[(1,)](x, self.packed, 4, BLOCK=4)\ny = torch.empty_like(x)\n" +
                 kLaunch + "return y\n"),
            Rules{});
  const auto packs_in_a_helper = [](const std::string& forward) {
    return rejects(kImports + kKernel + model(forward) +
                   "    def pack(self, x):\n        if self.packed is None:\n"
                   "            self.packed = torch.empty_like(x)\n"
                   "            add_kernel[(1,)](x, self.packed, 4, BLOCK=4)\n"
                   "        return self.packed\n");
  };
  EXPECT_EQ(packs_in_a_helper("packed = self.pack(x)\ny = torch.empty_like(x)\n" + kLaunch +
                              "return y\n"),
            Rules{});
  EXPECT_EQ(packs_in_a_helper("return self.pack(x)\n"), Rules{"replays_results"});
  EXPECT_EQ(body("if x.numel() == 0:\n    return torch.empty_like(x)\ny = torch.empty_like(x)\n" +
                 kLaunch + "return y\n"),
            Rules{});
}

TEST(Replays, TellsWhatIsCollectedInOneCallFromWhatIsKept) {
  const auto collected = [](const std::string& made) {
    return rejects(kImports + kKernel +
                   model(made + "    y = torch.empty_like(x)\n    " + kLaunch +
                         "    outs.append(y)\n    if len(outs) == 5:\n        return outs[0]\n"
                         "    return y\n"));
  };
  for (const char* made :
       {"if 1:\n    outs, hidden = [], []\n", "if 1:\n    (*outs, hidden), y = [0, 1], 2\n",
        "if 1:\n    [outs, n] = [], 1\n", "for outs in [[], []]:\n", "with collect() as outs:\n",
        "if (outs := []) is not None:\n"})
    EXPECT_EQ(collected(made), Rules{}) << made;
  for (const char* made :
       {"if 1:\n    pass\n", "if 1:\n    outs[0], n = 1, 2\n", "if 1:\n    outs.n, n = 1, 2\n",
        "for i in outs:\n", "with outs as o:\n", "if [0 for outs in ()] is not None:\n"})
    EXPECT_EQ(collected(made), Rules{"replays_results"}) << made;
}

TEST(Replays, TellsChoicesThatAreSettledFromWorkThatIsDoneOnce) {
  const auto chosen = [](const std::string& before, const std::string& condition,
                         const std::string& otherwise = kLaunch, const std::string& after = "") {
    return rejects(kImports + kKernel +
                   model(before + "y = self.out\nif " + condition + ":\n    " + kLaunch +
                         "else:\n    " + otherwise + after + "return y\n"));
  };
  const std::string asked = "if self.sms is None:\n    self.sms = sms_of(x.device)\n";
  EXPECT_EQ(chosen(asked, "self.sms >= 100"), Rules{});
  EXPECT_EQ(chosen("if not hasattr(self, 'sms'):\n    self.sms = 8\n    self.new = x.is_cuda\n",
                   "self.new"),
            Rules{});
  EXPECT_EQ(chosen("global SMS\nif SMS is None:\n    SMS = 8\n", "SMS >= 100"), Rules{});
  EXPECT_EQ(chosen("if self.of is None:\n    self.of = of(x.device)\n", "4 < self.of.major <= 9"),
            Rules{});
  const Rules replays = {"replays_results"};
  EXPECT_EQ(chosen("for i in x:\n    if self.n is None:\n        self.n = i\n", "self.n > 1"),
            replays);
  EXPECT_EQ(chosen("if self.n[0] is None:\n    self.n = [x.shape]\n", "self.n[0]"), replays);
  EXPECT_EQ(chosen("if self.n is None:\n    pass\nelse:\n    self.n = 1\n", "self.n > 1"), replays);
  EXPECT_EQ(chosen(asked, "self.sms >= 100", "pass\n"), replays);
  EXPECT_EQ(chosen(asked, "self.sms == x.data_ptr()"), replays);
  EXPECT_EQ(chosen(asked, "self.sms == address"), replays);
  EXPECT_EQ(chosen(asked, "self.sms.pop()"), replays);
  EXPECT_EQ(chosen("", "self.sms is None", kLaunch, asked), replays);
  EXPECT_EQ(chosen(asked + "self.sms += 1\n", "self.sms >= 100"), replays);
  EXPECT_EQ(chosen(asked, "self.sms >= 100", kLaunch, "self.sms = 0\n"), replays);
  EXPECT_EQ(chosen("self.calls += 1\n", "self.calls <= 8"), replays);
  EXPECT_EQ(chosen("global CALLS\nCALLS += 1\n", "CALLS <= 8"), replays);
  EXPECT_EQ(chosen("global CALLS\nfor CALLS in range(CALLS + 2):\n    pass\n", "CALLS <= 8"),
            replays);
  EXPECT_EQ(chosen("if self.n is not None:\n    self.n = self.n + 1\n", "self.n <= 8"), replays);
  EXPECT_EQ(chosen("if self.n is None:\n    self.n = []\nself.n.append(1)\n", "self.n < [1, 1]"),
            replays);
  EXPECT_EQ(chosen("if x.numel() not in self.n:\n    self.n[x.numel()] = 1\n", "self.n == {}"),
            replays);
  EXPECT_EQ(
      chosen("if self.n is None:\n    self.n = self.warm\nself.warm = True\n", "self.n is None"),
      replays);
  EXPECT_EQ(chosen("if self.warm:\n    if self.n is None:\n        self.n = 1\nself.warm = 1\n",
                   "self.n is None"),
            replays);
}

TEST(Replays, RejectsStreamsThatTorchDidNotMake) {
  const auto on = [](const std::string& stream) {
    return rejects(kImports + kKernel +
                   model("y = torch.empty_like(x)\nwith torch.cuda.stream(" + stream + "):\n    " +
                         kLaunch + "return y\n"));
  };
  EXPECT_EQ(on("torch.cuda.ExternalStream(1)"), Rules{"external_stream"});
  EXPECT_EQ(on("torch.cuda.get_stream_from_external(1)"), Rules{"external_stream"});
  EXPECT_EQ(on("torch.cuda.Stream()"), Rules{});
}

}  // namespace
}  // namespace tritonsmith::inspect
