#include "cli/dataset_options.h"

#include "base/log.h"
#include "cli/call/output.h"

namespace tritonsmith::cli {

void add_dataset_options(CLI::App& command, DatasetOptions& options) {
  command.add_option("--config", options.config,
                     "Read this config of a folder in the Hugging Face hub's layout");
  command.add_option("--split", options.split, "Read this split of such a folder")
      ->capture_default_str();
  command.add_option("--limit", options.limit, "Stop after this many rows; 0: take all");
  command.add_flag("--keep-going", options.keep_going, "Name and skip rows that cannot be used");
}

datasets::ImportOptions import_options(const DatasetOptions& options) {
  return {.from = {.path = options.path,
                   .config = options.config,
                   .split = options.split,
                   .name = options.dataset},
          .name = options.name,
          .on_bad = options.keep_going ? datasets::OnBadRow::skip : datasets::OnBadRow::stop,
          .limit = options.limit,
          .examples = {},
          .skipped = [](const std::string& location, const std::string& why) {
            LOG("skipped: {}: {}", location, why);
          }};
}

void show_counts(const datasets::ImportCounts& counts, std::string_view noun,
                 std::string_view out) {
  std::string text = fmt::format("{} {} of {} rows", counts.written, noun, counts.rows);
  if (counts.duplicates > 0) text += fmt::format(", {} duplicates left out", counts.duplicates);
  if (counts.bad > 0) text += fmt::format(", {} rows skipped", counts.bad);
  show("{}: {}\n", text, out);
  if (counts.without_licence > 0) show("{} of them name no licence\n", counts.without_licence);
}

}  // namespace tritonsmith::cli
