// Fuzzes the rows of a data set. Any bytes give rows or an error, and whatever a row holds becomes a
// task, examples or a reason. The front matter of any text is read or refused, and its patterns are
// compared with names of files.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "datasets/example_row.h"
#include "datasets/export.h"
#include "datasets/front_matter.h"
#include "datasets/json_rows.h"

namespace {

using namespace tritonsmith;
using namespace tritonsmith::datasets;

class Bytes : public ByteSource {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = std::min({std::size_t{7}, bytes_.size() - at_, into.size()});
    std::memcpy(into.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

void use(const Json& row) {
  Schema schema;
  extend(schema, row);
  const RowContext context{.dataset = "fuzz", .licence = {}, .number = 1};
  if (const auto task = task_from_row(row, context))
    CHECK(!task->source.empty(), "a task has a source");
  const auto examples = examples_from_row(row, context, {});
  if (!examples) return;
  for (const Example& each : *examples)
    CHECK(parse_json(to_line(to_json(each))).has_value(), "an example can be written");
}

void use_front_matter(const std::string& text) {
  const auto front = parse_front_matter("---\n" + text + "\n---\n");
  if (!front) return;
  for (const auto& config : front->configs)
    for (const SplitFiles& split : config.splits)
      for (const std::string& pattern : split.patterns) {
        CHECK(fits("**", pattern), "'{}' lies in no folder", pattern);
        fits(pattern, "data/train-00000-of-00002.parquet");
        fits(pattern, pattern);
      }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto reader = read_json_rows(std::make_unique<Bytes>(text), "fuzz", std::size_t{1} << 20);
  for (std::size_t rows = 0;; ++rows) {
    CHECK(rows <= size, "each row has at least one byte");
    const auto row = reader->next();
    if (!row || !*row) break;
    if ((**row).problem.empty()) use((**row).value);
  }
  use_front_matter(text);
  return 0;
}
