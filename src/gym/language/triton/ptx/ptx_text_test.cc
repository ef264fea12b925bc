#include "gym/language/triton/ptx/ptx_text.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace tritonsmith::gym::language::triton::ptx {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = TRITONSMITH_PTX;

std::string text_of(const fs::path& file) {
  auto text = read_file(file);
  EXPECT_TRUE(text) << file;
  return text ? *text : "";
}

// Returns the original with a line at the beginning of the kernel's body.
std::string with_line(const std::string& line) {
  std::string text = text_of(kFolder / "stream.ptx");
  const std::string_view mark = "// %bb.0:\n";
  return text.insert(text.find(mark) + mark.size(), line + "\n");
}

std::string why_not(const std::string& edited) {
  const Status allowed = check_edited_ptx(text_of(kFolder / "stream.ptx"), edited);
  return allowed ? "" : allowed.error().message;
}

TEST(PtxText, AllowsTheOriginalAndAnHonestEdit) {
  EXPECT_EQ(why_not(text_of(kFolder / "stream.ptx")), "");
  EXPECT_EQ(why_not(text_of(kFolder / "stream_wide.ptx")), "");
}

TEST(PtxText, RefusesEveryHostileFileForItsOwnReason) {
  const auto lines = read_lines(kFolder / "table.tsv");
  ASSERT_TRUE(lines);
  std::size_t seen = 0;
  for (const std::string& line : *lines) {
    if (line.starts_with("file\t")) continue;
    const std::size_t tab = line.find('\t');
    const std::string file = line.substr(0, tab), reason = line.substr(tab + 1);
    const std::string why = why_not(text_of(kFolder / "hostile" / file));
    EXPECT_NE(why.find(reason), std::string::npos) << file << ": " << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << file;
    ++seen;
  }
  EXPECT_EQ(seen, entries_of(kFolder / "hostile")->size()) << "the table names every file";
}

TEST(PtxText, KnowsTheOtherInstructionsOfTriton) {
  for (const char* line :
       {"ld.global.L1::evict_last.L2::cache_hint.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 16 ], "
        "%rd2;",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %r1 }, { %r2 }, { %r3 }, { %r4 };",
        "shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;", "bar.sync 0;",
        "cp.async.ca.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x4, 0x4;", "@!%p1 bra $L__BB0_1;",
        ".pragma \"nounroll\";", "{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }",
        "atom.global.gpu.acq_rel.exch.b32 %r1, [ %rd1 + 0 ], %r2;"})
    EXPECT_EQ(why_not(with_line(line)), "") << line;
}

TEST(PtxText, RefusesRegistersBeforeTheBody) {
  std::string text = text_of(kFolder / "stream.ptx");
  const std::string_view bounds = ".reqntid 128";
  text.replace(text.find(bounds), bounds.size(), "%clock64 128");
  const auto read = read_ptx(text);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("%clock64 has no meaning"), std::string::npos);
}

TEST(PtxText, RefusesBytesThatAreNoText) {
  EXPECT_NE(why_not(with_line(std::string("mov.u32 %r1, 0;\0trap;", 22))), "");
  EXPECT_NE(why_not(with_line("m\xd0\xbev.u32 %r1, 0;")), "");  // a letter that looks like an o
  EXPECT_NE(why_not(with_line("mov.u32 %r1, 0;\\\ntrap;")), "");
  EXPECT_NE(why_not(with_line("mov.u32 %r1, 0; \r trap;")), "");
  EXPECT_EQ(why_not(with_line("// anything \" ' # \\ /* may stand in a comment")), "");
}

TEST(PtxText, BoundsItsSize) {
  std::string many;
  for (std::size_t i = 0; i <= ptx_limits::kStatements; ++i) many += "ret;";
  EXPECT_NE(why_not(with_line(many)).find("more than 50000 statements"), std::string::npos);
  EXPECT_NE(why_not(std::string(ptx_limits::kBytes + 1, ' ')).find("at most"), std::string::npos);
}

TEST(PtxText, NamesTheLine) {
  EXPECT_EQ(why_not(with_line("trap;")).find("line 25: `trap`"), 0U) << why_not(with_line("trap;"));
}

TEST(PtxText, SurvivesEveryPrefix) {
  const std::string text = text_of(kFolder / "stream_wide.ptx");
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(read_ptx(std::string_view(text).substr(0, length)) && length < text.rfind('}'));
}

}  // namespace
}  // namespace tritonsmith::gym::language::triton::ptx
