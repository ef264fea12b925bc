#include "gym/compile/kernel_folder.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "base/temp_dir.h"

namespace tritonsmith::gym::compile {
namespace {

namespace fs = std::filesystem;

struct KernelFolderTest : ::testing::Test {
  static TempDir folder_for_test() {
    auto made = TempDir::make("tritonsmith-kernels");
    CHECK(made.has_value(), "{}", made.error().message);
    return *std::move(made);
  }
  static CompiledKernel kernel(std::size_t bytes) {
    return {.cubin = std::string(bytes, 'x'), .name = "k"};
  }
  // Keys of one subfolder.
  static std::string key(int number) { return fmt::format("ab{:062}", number); }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      if (entry.is_regular_file()) sum += entry.file_size();
    return sum;
  }
  // Sets when the file was used last, since two uses in a test may have one time.
  void set_hours_ago(int number, int hours) const {
    fs::last_write_time(folder.path() / "ab" / (key(number) + ".json"),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }

  TempDir folder = folder_for_test();
};

TEST_F(KernelFolderTest, RemovesWhatWasUsedLongestAgo) {
  KernelFolder kernels(folder.path(), 256 * 10'000);
  for (int k = 0; k < 4; ++k) {
    kernels.add(key(k), kernel(1500));  // 2,100 bytes as text
    set_hours_ago(k, 10 - k);
  }
  EXPECT_TRUE(kernels.find(key(0)));  // marks it as used
  kernels.add(key(4), kernel(1500));
  EXPECT_TRUE(kernels.find(key(0)));
  EXPECT_FALSE(kernels.find(key(1)));
  for (int k = 2; k < 5; ++k) EXPECT_TRUE(kernels.find(key(k))) << k;
  EXPECT_LE(bytes(), 10'000u);
}

TEST_F(KernelFolderTest, DoesNotKeepAKernelThatIsLargerThanItsPart) {
  KernelFolder kernels(folder.path(), 256 * 1'000);
  kernels.add(key(1), kernel(100));
  kernels.add(key(2), kernel(5'000));
  EXPECT_TRUE(kernels.find(key(1)));
  EXPECT_FALSE(kernels.find(key(2)));
}

TEST_F(KernelFolderTest, RemovesWhatAKilledProcessLeftBehind) {
  const fs::path part = folder.path() / "ab";
  fs::create_directory(part);
  ASSERT_TRUE(write_file_atomic(part / "abcd.json.new-1", std::string(9'000, 'x')));
  fs::last_write_time(part / "abcd.json.new-1",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  KernelFolder kernels(folder.path(), 256 * 10'000);
  kernels.add(key(1), kernel(1500));
  EXPECT_TRUE(kernels.find(key(1)));
  EXPECT_LE(bytes(), 10'000u);
}

TEST_F(KernelFolderTest, SeveralWritersStayWithinTheLimitAndReadOnlyWholeKernels) {
  constexpr std::uint64_t most = 256 * 20'000;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&, writer] {
      KernelFolder kernels(folder.path(), most);
      for (int k = 0; k < 100; ++k) {
        const int number = writer * 100 + k;
        kernels.add(key(number), kernel(1500));
        const int earlier = (number * 7) % 400;
        EXPECT_EQ(kernels.find(key(earlier)).value_or(kernel(1500)), kernel(1500));
      }
    });
  writers.clear();
  KernelFolder kernels(folder.path(), most);
  kernels.add(key(1'000), kernel(1500));
  EXPECT_TRUE(kernels.find(key(1'000)));
  EXPECT_LE(bytes(), 20'000u);
}

TEST_F(KernelFolderTest, SpreadsOverItsSubfolders) {
  constexpr std::uint64_t most = 256 * 8'000;
  KernelFolder kernels(folder.path(), most);
  for (int k = 0; k < 1'500; ++k) kernels.add(content_key(fmt::format("{}", k)), kernel(1500));
  EXPECT_LE(bytes(), most);
  EXPECT_GT(bytes(), most / 2);
}

}  // namespace
}  // namespace tritonsmith::gym::compile
