#include "generate/api/request_store.h"

#include <cmath>

#include "base/counted.h"
#include "base/hash.h"

namespace tritonsmith::generate {
namespace {

constexpr double kBillion = 1e9;  // costs are stored as whole billionths
constexpr const char* kSchema = R"(
create table if not exists requests (
  key text primary key,
  request text not null,
  reply text not null,
  prompt_tokens integer not null,
  cached_prompt_tokens integer not null,
  completion_tokens integer not null,
  reasoning_tokens integer not null,
  cost_billionths integer not null
) without rowid;
)";

}  // namespace

std::string Spending::to_text() const {
  std::string text =
      fmt::format("{}, {} prompt tokens ({} cached), {} completion tokens ({} of reasoning)",
                  counted(requests, "request"), usage.prompt_tokens, usage.cached_prompt_tokens,
                  usage.completion_tokens, usage.reasoning_tokens);
  if (cost > 0) text += fmt::format(", cost {:.4f}", cost);
  return text;
}

double cost_of(const Usage& usage, const ApiPrices& prices) {
  const double cached = prices.cached_input > 0 ? prices.cached_input : prices.input;
  const auto fresh = static_cast<double>(usage.prompt_tokens - usage.cached_prompt_tokens);
  constexpr double million = 1e6;
  return (fresh * prices.input + static_cast<double>(usage.cached_prompt_tokens) * cached +
          static_cast<double>(usage.completion_tokens) * prices.output) /
         million;
}

Result<std::unique_ptr<RequestStore>> RequestStore::open(const std::filesystem::path& file) {
  TRY_ASSIGN(auto database, Sqlite::open(file.empty() ? ":memory:" : file, "request store", kSchema,
                                         SqliteDurability::normal));
  return std::unique_ptr<RequestStore>(new RequestStore(std::move(database)));
}

Result<std::optional<ApiReply>> RequestStore::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(SqliteRows rows, database_->query("select reply from requests where key = ?", key));
  TRY_ASSIGN(const bool found, rows.next());
  if (!found) return std::optional<ApiReply>();
  TRY_ASSIGN(const Json json, parse_json(rows.text(0)));
  TRY_ASSIGN(ApiReply reply, stored_reply(json));
  return std::optional(std::move(reply));
}

Status RequestStore::put(const std::string& key, const Json& request, const ApiReply& reply,
                         double cost) {
  const std::lock_guard lock(mutex_);
  const Usage& usage = reply.usage;
  return database_->run("insert or ignore into requests values (?, ?, ?, ?, ?, ?, ?, ?)", key,
                        to_line(request), to_line(to_json(reply)), usage.prompt_tokens,
                        usage.cached_prompt_tokens, usage.completion_tokens, usage.reasoning_tokens,
                        static_cast<std::int64_t>(std::ceil(cost * kBillion)));
}

Result<Spending> RequestStore::spending() const {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(SqliteRows rows,
             database_->query("select count(*), sum(prompt_tokens), sum(cached_prompt_tokens), "
                              "sum(completion_tokens), sum(reasoning_tokens), "
                              "sum(cost_billionths) from requests"));
  TRY(rows.next());
  return Spending{.requests = rows.integer(0),
                  .usage = {.prompt_tokens = rows.integer(1),
                            .cached_prompt_tokens = rows.integer(2),
                            .completion_tokens = rows.integer(3),
                            .reasoning_tokens = rows.integer(4)},
                  .cost = static_cast<double>(rows.integer(5)) / kBillion};
}

std::string request_key(const std::string& url, const Json& body, std::uint64_t seed) {
  Json content = body;
  // Neither changes the answer.
  content.erase("stream");
  content.erase("stream_options");
  return content_key(fmt::format("{}\n{}\n{}", url, seed, to_line(content)));
}

}  // namespace tritonsmith::generate
