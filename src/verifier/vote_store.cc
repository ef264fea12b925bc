#include "verifier/vote_store.h"

namespace tritonsmith::verifier {
namespace {

constexpr const char* kSchema = R"(
create table if not exists votes (
  key text primary key,
  answer text not null,
  prompt_tokens integer not null,
  cached_prompt_tokens integer not null,
  completion_tokens integer not null,
  reasoning_tokens integer not null
) without rowid;
)";

}  // namespace

Result<std::unique_ptr<VoteStore>> VoteStore::open(const std::filesystem::path& file) {
  TRY_ASSIGN(auto database, Sqlite::open(file.empty() ? ":memory:" : file, "vote store", kSchema,
                                         SqliteDurability::normal));
  return std::unique_ptr<VoteStore>(new VoteStore(std::move(database)));
}

Result<std::optional<Vote>> VoteStore::find(const std::string& key) const {
  TRY_ASSIGN(SqliteRows rows,
             database_->query("select answer, prompt_tokens, cached_prompt_tokens, "
                              "completion_tokens, reasoning_tokens from votes where key = ?",
                              key));
  TRY_ASSIGN(const bool found, rows.next());
  if (!found) return std::optional<Vote>();
  return std::optional(Vote{.text = rows.text(0),
                            .usage = {.prompt_tokens = rows.integer(1),
                                      .cached_prompt_tokens = rows.integer(2),
                                      .completion_tokens = rows.integer(3),
                                      .reasoning_tokens = rows.integer(4)}});
}

Status VoteStore::put(const std::string& key, const Vote& vote) {
  const Usage& usage = vote.usage;
  return database_->run("insert or ignore into votes values (?, ?, ?, ?, ?, ?)", key, vote.text,
                        usage.prompt_tokens, usage.cached_prompt_tokens, usage.completion_tokens,
                        usage.reasoning_tokens);
}

}  // namespace tritonsmith::verifier
