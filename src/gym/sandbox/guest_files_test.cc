#include "gym/sandbox/guest_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/check.h"
#include "base/file.h"

namespace tritonsmith::gym::sandbox {
namespace {

namespace fs = std::filesystem;

class GuestFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("TMPDIR", temporary_->path().c_str(), 1); }
  void TearDown() override { ::unsetenv("TMPDIR"); }

  // Makes a folder as a killed program leaves it.
  fs::path left_behind(const std::string& name) {
    const fs::path folder = temporary_->path() / name;
    CHECK(make_directories(folder / "guests" / "guest-1").has_value(), "no folder");
    CHECK(write_file_atomic(folder / "python", "x").has_value(), "no file");
    return folder;
  }
  const Result<TempDir> temporary_ = TempDir::make("guest-files");
};

TEST_F(GuestFilesTest, DieWithTheirObject) {
  fs::path root;
  {
    const auto files = GuestFiles::write();
    ASSERT_TRUE(files) << files.error().message;
    root = files->package_root();
    EXPECT_TRUE(fs::exists(files->jail_library()));
  }
  EXPECT_FALSE(fs::exists(root.parent_path()));
}

TEST_F(GuestFilesTest, RemoveWhatAKilledProgramLeftBehindAndNothingElse) {
  const fs::path left = left_behind("tritonsmith-guests-aaaaaa");
  const fs::path other = left_behind("another-program");
  const auto living = GuestFiles::write();
  ASSERT_TRUE(living);
  EXPECT_FALSE(fs::exists(left));
  const auto second = GuestFiles::write();
  ASSERT_TRUE(second);
  EXPECT_TRUE(fs::exists(living->jail_library())) << "its owner lives";
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(GuestFilesTest, RemoveFoldersThatAGuestMadeTooDeepForAPath) {
  const fs::path left = left_behind("tritonsmith-guests-bbbbbb");
  fs::current_path(left / "guests" / "guest-1");
  for (int k = 0; k < 300; ++k) {
    ASSERT_EQ(::mkdir("a-folder-with-a-long-name", 0700), 0);
    ASSERT_EQ(::chdir("a-folder-with-a-long-name"), 0);
  }
  fs::current_path("/");
  ASSERT_TRUE(GuestFiles::write());
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(GuestFilesTest, FollowNoLink) {
  const fs::path target = left_behind("kept");
  fs::create_directory_symlink(target, temporary_->path() / "tritonsmith-guests-cccccc");
  ASSERT_TRUE(GuestFiles::write());
  EXPECT_TRUE(fs::exists(target / "python"));
}

}  // namespace
}  // namespace tritonsmith::gym::sandbox
