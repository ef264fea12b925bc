// RequestStore: the answers that a server has given, by the content of the requests. A command that
// was killed and goes on finds them here, so nothing is asked or paid twice. It also counts tokens
// and cost. The key that opens the server is never in it. Any thread may call a store.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "base/sqlite.h"
#include "generate/api/api_config.h"
#include "generate/api/protocol.h"

namespace tritonsmith::generate {

// The tokens and the cost of all requests in a store.
struct Spending {
  std::int64_t requests = 0;
  Usage usage;
  double cost = 0;  // in the prices' currency
  // "24 requests, 51200 prompt tokens (1024 cached), 9000 completion tokens (0 of reasoning), cost
  // 0.0312"
  std::string to_text() const;
};

double cost_of(const Usage& usage, const ApiPrices& prices);

class RequestStore {
 public:
  // An empty path keeps the answers in memory.
  static Result<std::unique_ptr<RequestStore>> open(const std::filesystem::path& file);

  Result<std::optional<ApiReply>> find(const std::string& key) const;
  // `request` is the body that was sent.
  Status put(const std::string& key, const Json& request, const ApiReply& reply, double cost);
  Result<Spending> spending() const;

 private:
  explicit RequestStore(std::unique_ptr<Sqlite> database) : database_(std::move(database)) {}
  mutable std::mutex mutex_;
  std::unique_ptr<Sqlite> database_;
};

// The name of a request's content. `seed` tells requests apart that the server cannot seed.
std::string request_key(const std::string& url, const Json& body, std::uint64_t seed);

}  // namespace tritonsmith::generate
