#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/bounded_queue.h"
#include "base/config.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/jsonl.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/rng.h"
#include "base/temp_dir.h"

namespace tritonsmith {
namespace {

enum class Colour { red, green };

}  // namespace
template <>
inline constexpr auto enum_names<Colour> = names<Colour>({{Colour::red, "red"},
                                                          {Colour::green, "green"}});
namespace {

struct Inner {
  double rate = 0.5;
  static Fields<Inner> fields() {
    return {renamed_from("speed", field("rate", &Inner::rate, "how fast", between(0.0, 1.0)))};
  }
};
struct Outer {
  int steps = 10;
  Colour colour = Colour::red;
  std::vector<std::string> names = {"a"};
  Inner inner;
  static Fields<Outer> fields() {
    Fields<Outer> all = {field("steps", &Outer::steps, "how many", at_least(1)),
                         field("colour", &Outer::colour, "which"),
                         field("names", &Outer::names, "whose")};
    append_section(all, "inner", &Outer::inner);
    return all;
  }
};

Result<Outer> load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Outer config;
  TRY_ASSIGN(const Settings settings, settings_from_toml(text, "test.toml"));
  TRY(apply_settings(config, settings, "test.toml"));
  TRY_ASSIGN(const Settings on_top, settings_from_overrides(overrides));
  TRY(apply_settings(config, on_top, "--set"));
  return config;
}

TEST(Directory, GivesItsEntriesInOrderAndSaysWhenItIsGone) {
  const Result<TempDir> folder = TempDir::make("entries");
  for (const char* name : {"b", "a"}) ASSERT_TRUE(write_file_atomic(folder->path() / name, ""));
  const auto entries = entries_of(folder->path());
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(*entries, (std::vector{folder->path() / "a", folder->path() / "b"}));
  const auto gone = entries_of(folder->path() / "gone");
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("gone: No such file"), std::string::npos);
}

TEST(Jsonl, NamesTheLineOfAnErrorAndLeavesOutALastLineThatIsCutOff) {
  const Result<TempDir> folder = TempDir::make("jsonl");
  const auto file = folder->path() / "numbers.jsonl";
  const auto number = [](const Json& json) -> Result<int> {
    int value = 0;
    TRY(read_value(json, value));
    return value;
  };
  ASSERT_TRUE(write_file_atomic(file, "1\n2\n3\n[4"));
  EXPECT_EQ(read_jsonl(file, number).error().message.find(file.string() + ":4: not valid JSON"),
            0U);
  constexpr JsonlOptions kRecords{.last_line = LastLine::may_be_cut_off};
  EXPECT_EQ(*read_jsonl(file, number, kRecords), (std::vector{1, 2, 3}));
  EXPECT_EQ(*read_jsonl(file, number, {.last_line = kRecords.last_line, .only_last = 2}),
            (std::vector{3}));
  ASSERT_TRUE(write_file_atomic(file, "1\n\"two\"\n"));
  EXPECT_EQ(read_jsonl(file, number).error().message.find(file.string() + ":2: "), 0U);
}

TEST(Config, ReadsSectionsAndOverrides) {
  const auto config = load("steps = 3\n[inner]\nrate = 0.25\n", {"colour=green", "names=[\"b\"]"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->steps, 3);
  EXPECT_EQ(config->inner.rate, 0.25);
  EXPECT_EQ(config->colour, Colour::green);
  EXPECT_EQ(config->names, std::vector<std::string>{"b"});
}

TEST(Config, NamesTheNearestKeyWhenOneIsUnknown) {
  const auto config = load("[inner]\nrat = 0.25\n");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message,
            "test.toml: unknown key 'inner.rat'; did you mean 'inner.rate'?");
}

TEST(Config, SaysWhatTheConfigItselfKnowsOfAnUnknownKey) {
  struct Hinted {
    int steps = 1;
    static Fields<Hinted> fields() { return {field("steps", &Hinted::steps, "")}; }
    static std::string hint(std::string_view wanted, const std::vector<std::string>&) {
      return wanted == "rounds" ? "rounds are steps" : "";
    }
  };
  Hinted config;
  EXPECT_EQ(apply_settings(config, {{"rounds", 3}}, "t").error().message,
            "t: unknown key 'rounds'; rounds are steps");
  EXPECT_EQ(apply_settings(config, {{"step", 3}}, "t").error().message,
            "t: unknown key 'step'; did you mean 'steps'?");
}

TEST(Config, ReadsAFieldByItsOldNameAndSaysTheNewOne) {
  testing::internal::CaptureStderr();
  const auto config = load("[inner]\nspeed = 0.25\n");
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->inner.rate, 0.25);
  EXPECT_NE(said.find("test.toml: 'inner.speed' is called 'inner.rate' now"), std::string::npos);
  EXPECT_EQ(toml_from_settings(settings_of(*config)).find("speed"), std::string::npos);
}

TEST(Config, RefusesValuesOutOfRangeOrOfTheWrongType) {
  EXPECT_EQ(load("steps = 0").error().message, "test.toml: steps: must be at least 1, not 0");
  EXPECT_EQ(load("steps = \"x\"").error().message, "test.toml: steps: must be a whole number");
  EXPECT_EQ(load("colour = \"blue\"").error().message,
            "test.toml: colour: 'blue' is none of red or green");
  EXPECT_NE(load("steps = ").error().message.find("test.toml:1:"), std::string::npos);
}

TEST(Config, ItsOwnRecordReadsBackTheSame) {
  const auto config = load("steps = 7\ncolour = \"green\"\ninner.rate = 0.125\n");
  ASSERT_TRUE(config);
  const std::string record = toml_from_settings(settings_of(*config));
  const auto again = load(record);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(toml_from_settings(settings_of(*again)), record);
}

TEST(Config, ReadsEveryWholeNumberOfItsType) {
  struct Seeded {
    std::uint64_t seed = 1;
    std::int64_t offset = 1;
    static Fields<Seeded> fields() {
      return {field("seed", &Seeded::seed, ""), field("offset", &Seeded::offset, "")};
    }
  };
  Seeded config;
  ASSERT_TRUE(apply_settings(config, {{"seed", UINT64_MAX}, {"offset", INT64_MIN}}, "t"));
  EXPECT_EQ(config.seed, UINT64_MAX);
  EXPECT_EQ(config.offset, INT64_MIN);
  EXPECT_EQ(apply_settings(config, {{"offset", UINT64_MAX}}, "t").error().message,
            "t: offset: 18446744073709551615 is out of range");
  EXPECT_EQ(apply_settings(config, {{"seed", -1}}, "t").error().message,
            "t: seed: -1 is out of range");
}

TEST(Rng, GivesTheSameDrawsForTheSameNameAndOthersForOthers) {
  Rng a(1, "sampling", 2), b(1, "sampling", 2), c(1, "sampling", 3);
  const auto first = a.next_u64();
  EXPECT_EQ(first, b.next_u64());
  EXPECT_NE(first, c.next_u64());
}

TEST(Rng, BelowIsEvenlySpread) {
  Rng rng(7, "test", 0);
  std::vector<int> counts(6);
  for (int i = 0; i < 60000; ++i) ++counts[rng.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
}

TEST(Hash, MatchesPublishedVectors) {
  EXPECT_EQ(content_key("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, test case 2.
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(LineWriter, CutsTheUnfinishedLineThatACrashLeft) {
  auto dir = TempDir::make("base-test");
  ASSERT_TRUE(dir);
  const auto path = dir->path() / "records.jsonl";
  std::ofstream(path) << "one\ntw";
  {
    auto writer = LineWriter::open(path);
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE(writer->append("three"));
  }
  EXPECT_EQ(*read_file(path), "one\nthree\n");
}

TEST(File, MakesTheFolderOfAResult) {
  const auto dir = TempDir::make("base-test");
  ASSERT_TRUE(dir);
  const auto file = dir->path() / "new" / "folder" / "result.py";
  testing::internal::CaptureStderr();
  ASSERT_TRUE(prepare_output_file(file));
  EXPECT_NE(
      testing::internal::GetCapturedStderr().find("made the folder " + file.parent_path().string()),
      std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(file.parent_path()));
  EXPECT_TRUE(write_file_atomic(file, "x"));
  EXPECT_TRUE(prepare_output_file(file));
  EXPECT_EQ(*read_file(file), "x");
  EXPECT_EQ(prepare_output_file(file.parent_path()).error().message,
            file.parent_path().string() + " is a directory; name a file");
  EXPECT_FALSE(prepare_output_file(file / "below_a_file"));
  EXPECT_EQ(make_directories(file).error().message,
            file.string() + " is in the way: a directory is needed there");
}

TEST(File, NamesTheFileItCannotReadOrWrite) {
  EXPECT_EQ(read_file("/no/such/file").error().message,
            "cannot open /no/such/file: No such file or directory");
  EXPECT_FALSE(write_file_atomic("/no/such/dir/file", "x"));
  EXPECT_EQ(read_file("/tmp").error().message, "/tmp is a directory, not a file");
}

TEST(Json, RefusesWhatIsTooDeep) {
  EXPECT_TRUE(parse_json(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(parse_json(std::string(100000, '[')));
  EXPECT_FALSE(parse_json(std::string(100, '[') + std::string(100, ']')));
}

TEST(Json, ReaderReportsTheFirstWrongMember) {
  const Json json = Json::parse(R"({"a": 1, "b": "x"})");
  JsonReader reader(json);
  EXPECT_EQ(reader.integer("a"), 1);
  reader.integer("b");
  reader.string("c");
  EXPECT_EQ(reader.status().error().message, "'b': must be a whole number");
}

TEST(BoundedQueue, DrainsAfterClosing) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.push(1));
  queue.close();
  EXPECT_FALSE(queue.push(2));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(NearestName, FindsWhatWasMeantAndNotWhatIsSpeltAlike) {
  const std::vector<std::string> known = {"run.dir",
                                          "run.steps",
                                          "optimizer.learning_rate",
                                          "optimizer.warmup_updates",
                                          "optimizer.beta1",
                                          "optimizer.beta2",
                                          "optimizer.weight_decay",
                                          "optimizer.max_grad_norm",
                                          "rollout.max_new_tokens",
                                          "rollout.samples",
                                          "algorithm.kl_beta",
                                          "algorithm.clip_low"};
  for (const auto& [wanted, meant] : std::vector<std::pair<std::string, std::string>>{
           {"optimizer.lr", "optimizer.learning_rate"},
           {"learning_rate", "optimizer.learning_rate"},
           {"train.lr", "optimizer.learning_rate"},
           {"optimizer.learnin_rate", "optimizer.learning_rate"},
           {"optimizer.warmup", "optimizer.warmup_updates"},
           {"optimizer.wd", "optimizer.weight_decay"},
           {"rollout.max_tokens", "rollout.max_new_tokens"},
           {"run.step", "run.steps"},
           {"algorithm.kl", "algorithm.kl_beta"}})
    EXPECT_EQ(suggestion(wanted, known), fmt::format("did you mean '{}'?", meant)) << wanted;
  EXPECT_EQ(near_name("run.step", known), "run.steps");
  EXPECT_EQ(near_name("zzz.yyy", known), std::nullopt);
  EXPECT_EQ(suggestion("run.kl_beta", known), "did you mean 'algorithm.kl_beta'?");
  EXPECT_EQ(suggestion("run.samples", known),
            "did you mean one of run.dir, run.steps, or 'rollout.samples'?");
  EXPECT_EQ(suggestion("run.zzz", known), "there are run.dir, run.steps");
  EXPECT_EQ(suggestion("zzz.yyy", known), "the sections are run, optimizer, rollout, algorithm");
}

TEST(Printable, EscapesWhatCommandsATerminal) {
  EXPECT_EQ(printable("plain,\n\ttäglich ∑ 🙂"), "plain,\n\ttäglich ∑ 🙂");
  EXPECT_EQ(printable("\x1b[2Jred\x1b[31m\r"), "\\u001b[2Jred\\u001b[31m\\u000d");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m\x7f"),
            "\\u009b31m\\u007f")
      << "C1 and delete";
  EXPECT_EQ(printable("a\u202Eb"), "a\\u202eb") << "the other direction";
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\u0000");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xC3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b") << "an escape in an overlong form";
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
}

TEST(Printable, CutsATextBetweenItsCharacters) {
  EXPECT_EQ(first_bytes("a\xE2\x88\x91z", 5), "a\xE2\x88\x91z");
  EXPECT_EQ(first_bytes("a\xE2\x88\x91z", 4), "a\xE2\x88\x91");
  for (const std::size_t most : {1, 2, 3}) EXPECT_EQ(first_bytes("a\xE2\x88\x91z", most), "a");
  EXPECT_EQ(first_bytes("\xE2\x88\x91", 0), "");
}

TEST(Printable, LeavesJsonTheSame) {
  const Json json = {{"message", "\x1b[31m \xC2\x9B \x7f \u202E \\ \" ü"}};
  const std::string line = printable(to_line(json));
  EXPECT_EQ(*parse_json(line), json);
  EXPECT_EQ(line.find('\x7f'), std::string::npos);
}

TEST(Progress, CountsWhatAnEarlierProcessDidAtNoTimeOfOurs) {
  EXPECT_EQ(seconds_left(30, 0, 10, 40), 90);
  EXPECT_EQ(seconds_left(30, 1000, 1010, 1040), 90) << "as long as without those before";
  EXPECT_EQ(seconds_left(30, 0, 0, 40), std::nullopt);
  EXPECT_EQ(seconds_left(30, 40, 40, 40), std::nullopt) << "finished before";
}

}  // namespace
}  // namespace tritonsmith
