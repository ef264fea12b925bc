// Tests which calls of torch a wider policy may allow.
#include "inspect/torch_functions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "inspect/testing/candidates.h"

namespace tritonsmith::inspect {
namespace {

TEST(Inspect, NamesThePoliciesThatMayAllowWhatItRejects) {
  const auto allowed = [](const std::string& line) {
    const auto all = inspect_kernel(
        kImports + kKernel + model(line + "\n" + kLaunch + "return y\n"), Policy::strict);
    const auto at = std::ranges::find(all, "torch_compute", &Finding::rule);
    return at == all.end() ? "" : at->message.substr(at->message.find(';') + 2);
  };
  const std::string either = "policy fused or open may allow it";
  for (const char* line : {"y = torch.matmul(x, x)", "y = x.mm(x)", "y = F.linear(x, x)",
                           "y = F.scaled_dot_product_attention(x, x, x)", "y = self.linear(x)",
                           "y = torch.einsum('ij,jk->ik', x, x)"})
    EXPECT_EQ(allowed(line), either) << line;
  for (const char* line : {"y = torch.relu(x)", "y = F.gelu(x)", "y = x.softmax(-1)",
                           "y = x.add_(x)", "y = torch.linalg.norm(x)"})
    EXPECT_EQ(allowed(line), "policy open may allow it") << line;
}

TEST(TorchFunctions, KnowLayersAndFunctionsOfTheVendorByTheirPaths) {
  for (const char* path : {"torch.nn.LazyConv2d", "torch.nn.MultiheadAttention", "torch.tensordot",
                           "torch.linalg.multi_dot", "torch.nn.functional.conv1d", "x.matmul"})
    EXPECT_TRUE(may_be_vendor_grade(path)) << path;
  for (const char* path : {"torch.nn.LayerNorm", "torch.nn.ReLU", "torch.cumsum", "torch.outer",
                           "torch.nn.functional.cross_entropy"})
    EXPECT_FALSE(may_be_vendor_grade(path)) << path;
}

}  // namespace
}  // namespace tritonsmith::inspect
