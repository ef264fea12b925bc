#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "hub/hub_connection.h"
#include "hub/model_files.h"
#include "hub/testing/fake_hub.h"

namespace tritonsmith::hub {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHello = "hello\n";
constexpr const char* kHelloSha1 = "ce013625030ba8dba906f756967f9e9ca394464a";  // git hash-object

// A hub with a model of two shards, and an empty cache.
class Hub : public ::testing::Test {
 protected:
  Hub() : folder_(*TempDir::make("hub")) {
    hub_.files["config.json"] = {.content = kHello, .git_sha1 = kHelloSha1};
    hub_.files["model.safetensors.index.json"] = {
        .content = R"({"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})",
        .git_sha1 = std::string(40, '1'),
        .is_large = true};
    for (const char* name : {"model-1.safetensors", "model-2.safetensors", "pytorch_model.bin"})
      hub_.files[name] = {.content = std::string(300'000, 'a') + name,
                          .git_sha1 = std::string(40, '2'),
                          .is_large = true};
  }

  HubSettings settings() const {
    return {.endpoint = hub_.url(),
            .cache = folder_.path() / "hub",
            .token = "secret",
            .first_wait_seconds = 0};
  }
  Result<fs::path> fetch(const HubSettings& settings) const {
    return fetch_model(settings, {.id = "owner/name"}, ModelPart::model);
  }
  fs::path repository() const { return folder_.path() / "hub" / "models--owner--name"; }

  FakeHub hub_;
  TempDir folder_;
};

TEST(HubName, IsOwnerAndNameWithARevisionPerhaps) {
  EXPECT_EQ(parse_hub_name("Qwen/Qwen2.5-Coder"), (HubName{.id = "Qwen/Qwen2.5-Coder"}));
  EXPECT_EQ(parse_hub_name("a/b@refs/pr/1"), (HubName{.id = "a/b", .revision = "refs/pr/1"}));
  for (const char* path : {"model", "./a/b", "/a/b", "a/b/c", "a/..", "a/b@", "a/b@../c", "a/b@/c",
                           "a b/c", "-a/b", "openai:a/b", "", "a/b--c"})
    EXPECT_FALSE(parse_hub_name(path)) << path;
}

TEST(HubSettings, ComeFromTheVariablesOfHuggingfaceHub) {
  std::map<std::string, std::string> variables = {{"HOME", "/home/me"}};
  const Environment environment = [&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  };
  EXPECT_EQ(hub_settings(environment)->cache, "/home/me/.cache/huggingface/hub");
  variables["HF_HOME"] = "~/hf";
  EXPECT_EQ(hub_settings(environment)->cache, "/home/me/hf/hub");
  variables["HF_HUB_CACHE"] = "/big";
  variables["HF_ENDPOINT"] = "https://mirror.example/hf/";
  variables["HF_TOKEN"] = " t\n";
  variables["HF_HUB_OFFLINE"] = "yes";
  const auto settings = hub_settings(environment);
  EXPECT_EQ(settings->cache, "/big");
  EXPECT_EQ(settings->endpoint, "https://mirror.example/hf");
  EXPECT_EQ(settings->token, "t");
  EXPECT_TRUE(settings->is_offline);
  variables["HF_ENDPOINT"] = "mirror.example";
  EXPECT_THAT(hub_settings(environment).error().message, HasSubstr("HF_ENDPOINT"));
}

TEST(RemoteFiles, NeverLeadOutOfTheirFolder) {
  for (const char* path : {"../x", "/x", "a/../../x", "a//x", ".", ""}) {
    const Json page = {
        {{"type", "file"}, {"path", path}, {"oid", std::string(40, 'a')}, {"size", 1}}};
    EXPECT_FALSE(files_from_api(page)) << path;
  }
  const Json no_checksum = {{{"type", "file"}, {"path", "x"}, {"oid", "../../y"}, {"size", 1}}};
  EXPECT_FALSE(files_from_api(no_checksum));
}

TEST_F(Hub, FetchesOnlyWhatAModelNeedsIntoTheLayoutOfHuggingfaceHub) {
  const auto folder = fetch(settings());
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(*folder, repository() / "snapshots" / kFakeCommit);
  EXPECT_EQ(*read_file(*folder / "config.json"), kHello);
  EXPECT_EQ(fs::read_symlink(*folder / "config.json"), fs::path("../../blobs") / kHelloSha1);
  EXPECT_EQ(fs::file_size(*folder / "model-2.safetensors"), 300'019U);
  EXPECT_FALSE(fs::exists(*folder / "pytorch_model.bin"));
  EXPECT_EQ(*read_file(repository() / "refs/main"), kFakeCommit);
  EXPECT_EQ(entries_of(repository() / "blobs")->size(), 4U);
}

TEST_F(Hub, ShowsTheTokenToTheHubAndNotToTheCdn) {
  ASSERT_TRUE(fetch(settings()));
  int with = 0, without = 0;
  for (const std::string& each : hub_.asked()) {
    const bool is_shown = each.find("Bearer secret") != std::string::npos;
    EXPECT_EQ(is_shown, each.find("?sig=a,b") == std::string::npos) << each;
    ++(is_shown ? with : without);
  }
  EXPECT_EQ(without, 3);
  EXPECT_GT(with, 5);
}

TEST_F(Hub, AsksForTheCommitAloneWhenAllIsThere) {
  ASSERT_TRUE(fetch(settings()));
  const std::size_t before = hub_.asked().size();
  ASSERT_TRUE(fetch(settings()));
  EXPECT_EQ(hub_.asked().size(), before + 1);
  ASSERT_TRUE(
      fetch_model(settings(), {.id = "owner/name", .revision = kFakeCommit}, ModelPart::model));
  EXPECT_EQ(hub_.asked().size(), before + 1);
}

TEST_F(Hub, GoesOnWhereADownloadWasCut) {
  hub_.cuts = 1;  // of the one file below
  hub_.cut_after = 200'000;
  const auto repository = Repository::open(settings(), RepositoryKind::model, {.id = "owner/name"});
  ASSERT_TRUE(repository);
  ASSERT_TRUE(repository->fetch({"model-1.safetensors"}));
  EXPECT_THAT(hub_.asked().back(), HasSubstr("Range: bytes=200000-"));
  EXPECT_EQ(*read_file(repository->folder() / "model-1.safetensors"),
            hub_.files["model-1.safetensors"].content);
}

TEST_F(Hub, GoesOnWithThePartOfAProcessThatWasKilled) {
  const std::string& content = hub_.files["model-1.safetensors"].content;
  fs::create_directories(repository() / "blobs");
  std::ofstream(repository() / "blobs" / (content_key(content) + ".incomplete"))
      << content.substr(0, 1000);
  ASSERT_TRUE(fetch(settings()));
  EXPECT_THAT(hub_.asked(), ::testing::Contains(HasSubstr("Range: bytes=1000-")));
}

TEST_F(Hub, FetchesADamagedPartAnew) {
  const std::string& content = hub_.files["model-1.safetensors"].content;
  fs::create_directories(repository() / "blobs");
  std::ofstream(repository() / "blobs" / (content_key(content) + ".incomplete")) << "damaged";
  const auto folder = fetch(settings());
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(*read_file(*folder / "model-1.safetensors"), content);
}

TEST_F(Hub, RefusesContentWithAWrongChecksum) {
  hub_.files["config.json"].content = "hullo\n";
  const auto folder = fetch(settings());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("config.json: its checksum is"));
  EXPECT_TRUE(entries_of(repository() / "blobs")->empty());
}

TEST_F(Hub, TriesAgainWhenTheHubIsBusy) {
  hub_.busy = 2;
  EXPECT_TRUE(fetch(settings()));
  hub_.busy = 100;
  HubSettings elsewhere = settings();
  elsewhere.cache = folder_.path() / "other";
  const auto folder = fetch(elsewhere);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ErrorKind::fault);
}

TEST_F(Hub, UsesTheCacheWhenTheHubIsAwayOrForbidden) {
  ASSERT_TRUE(fetch(settings()));
  hub_.busy = 100;
  EXPECT_TRUE(fetch(settings()));
  HubSettings offline = settings();
  offline.is_offline = true;
  const std::size_t before = hub_.asked().size();
  EXPECT_TRUE(fetch(offline));
  EXPECT_EQ(hub_.asked().size(), before);
  const auto other = fetch_model(offline, {.id = "owner/other"}, ModelPart::model);
  EXPECT_THAT(other.error().message,
              ::testing::AllOf(HasSubstr("owner/other"), HasSubstr("HF_HUB_OFFLINE is set")));
}

TEST_F(Hub, MissesTheOtherShardsOfACopyWhoseListNobodyKept) {
  const fs::path snapshot = repository() / "snapshots" / kFakeCommit;
  fs::create_directories(snapshot);
  std::ofstream(snapshot / "train-00001-of-00002.parquet") << "x";
  std::ofstream(snapshot / "model-00002-of-00002.safetensors") << "x";
  HubSettings offline = settings();
  offline.is_offline = true;
  const HubName name{.id = "owner/name", .revision = kFakeCommit};
  const auto repository = Repository::open(offline, RepositoryKind::model, name);
  ASSERT_TRUE(repository);
  EXPECT_TRUE(repository->has("model-00001-of-00002.safetensors"));
  EXPECT_THAT(repository->fetch({"model-00001-of-00002.safetensors"}).error().message,
              HasSubstr("is not in the cache"));
}

TEST_F(Hub, SaysInOneLineWhyTheHubRefuses) {
  const auto message = [&](int status, const std::string& code) {
    hub_.refusal = status;
    hub_.error_code = code;
    return fetch(settings()).error().message;
  };
  EXPECT_THAT(message(401, "RepoNotFound"), HasSubstr("has nothing of this name"));
  EXPECT_THAT(message(404, "RevisionNotFound"), HasSubstr("no such revision"));
  EXPECT_THAT(message(403, "GatedRepo"), HasSubstr("accept its conditions"));
  EXPECT_THAT(message(401, ""), HasSubstr("refuses the token"));
  for (const int status : {401, 403, 404})
    EXPECT_THAT(message(status, ""), Not(HasSubstr("secret")));
}

TEST_F(Hub, NeedsSafetensors) {
  hub_.files.erase("model.safetensors.index.json");
  EXPECT_THAT(fetch(settings()).error().message, HasSubstr("owner/name has no model.safetensors"));
}

TEST_F(Hub, FetchesWhatSeveralWantAtATimeOnce) {
  const auto repository = Repository::open(settings(), RepositoryKind::model, {.id = "owner/name"});
  ASSERT_TRUE(repository);
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      done +=
          repository->fetch({"config.json", "model-1.safetensors", "model-2.safetensors"}) ? 1 : 0;
    });
  threads.clear();  // joins them
  EXPECT_EQ(done, 4);
  int contents = 0;
  for (const std::string& each : hub_.asked())
    contents += each.find("/resolve/") != std::string::npos ? 1 : 0;
  EXPECT_EQ(contents, 3);
}

TEST(UrlEncoded, KeepsOnlyWhatAPathMayHold) {
  EXPECT_EQ(url_encoded("a b/c+d\u00e9", "/"), "a%20b/c%2Bd%C3%A9");
  EXPECT_EQ(url_encoded("refs/pr/1", ""), "refs%2Fpr%2F1");
}

}  // namespace
}  // namespace tritonsmith::hub
