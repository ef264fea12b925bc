#include "datasets/import.h"

#include "base/hash.h"

namespace tritonsmith::datasets {
namespace {

// Half of a hash is enough to tell rows apart.
class Seen {
 public:
  // Returns whether the text is new, and remembers it.
  bool add(std::string_view text) {
    const Digest digest = sha256(text);
    std::uint64_t key = 0;
    for (int i = 0; i < 8; ++i) key = key << 8 | digest[static_cast<std::size_t>(i)];
    return keys_.insert(key).second;
  }

 private:
  std::unordered_set<std::uint64_t> keys_;
};

using TakeRow = std::function<Status(const Json& row, const RowContext& context, ImportCounts&)>;

Result<ImportCounts> import_rows(const ImportOptions& options, const TakeRow& take) {
  TRY_ASSIGN(const Dataset dataset, find_dataset(options.from));
  TRY_ASSIGN(const auto rows, read_rows(dataset));
  ImportCounts counts;
  const auto refuse = [&](const std::string& location, const std::string& why) -> Status {
    if (options.on_bad == OnBadRow::stop) return fail("{}: {}", location, why);
    ++counts.bad;
    if (options.skipped) options.skipped(location, why);
    return ok();
  };
  while (options.limit == 0 || counts.written < options.limit) {
    TRY_ASSIGN(auto row, rows->next());
    if (!row) break;
    ++counts.rows;
    if (!row->problem.empty()) {
      TRY(refuse(row->location, row->problem));
      continue;
    }
    const RowContext context{.dataset = options.name.empty() ? dataset.name : options.name,
                             .licence = dataset.licence,
                             .number = counts.rows};
    if (const Status taken = take(row->value, context, counts); !taken)
      TRY(refuse(row->location, taken.error().message));
  }
  if (counts.written == 0 && counts.bad == 0)
    return fail("{}: holds no rows", options.from.path.string());
  return counts;
}

void count_written(const std::optional<Origin>& origin, ImportCounts& counts) {
  ++counts.written;
  if (!origin || origin->licences.empty()) ++counts.without_licence;
}

}  // namespace

Result<ImportCounts> import_tasks(const ImportOptions& options, RowWriter& out) {
  Seen sources, ids;
  std::optional<Error> broken;  // the output's, which no row is to blame for
  auto counts = import_rows(
      options, [&](const Json& row, const RowContext& context, ImportCounts& so_far) -> Status {
        TRY_ASSIGN(Task task, task_from_row(row, context));
        if (!sources.add(task.source)) {
          ++so_far.duplicates;
          return ok();
        }
        if (!options.name.empty()) task.suite = options.name;
        if (!ids.add(task.id)) {
          task.id += fmt::format("-{}", context.number);
          ids.add(task.id);
        }
        if (const Status written = out.write(to_json(task)); !written) broken = written.error();
        count_written(task.origin, so_far);
        return ok();
      });
  if (broken) return tl::unexpected(*broken);
  return counts;
}

Result<ImportCounts> import_examples(const ImportOptions& options, RowWriter& out) {
  Seen seen;
  std::optional<Error> broken;
  auto counts = import_rows(
      options, [&](const Json& row, const RowContext& context, ImportCounts& so_far) -> Status {
        TRY_ASSIGN(const auto examples, examples_from_row(row, context, options.examples));
        for (const Example& each : examples) {
          const Json json = to_json(each);
          if (!seen.add(to_line(json["prompt"]) + each.completion + each.rejected)) {
            ++so_far.duplicates;
            continue;
          }
          if (const Status written = out.write(json); !written) broken = written.error();
          count_written(each.origin, so_far);
        }
        return ok();
      });
  if (broken) return tl::unexpected(*broken);
  return counts;
}

}  // namespace tritonsmith::datasets
