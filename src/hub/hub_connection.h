// HubConnection: HTTP with the hub, and with the servers to which the hub redirects for the content
// of large files. The token goes to the hub alone. A request that fails for a while is repeated,
// and a download goes on where it was cut. One thread uses a connection.
//
// An error is a fault where the hub cannot be reached or fails for too long, so that the caller may
// go on with what the cache has. Otherwise the hub refused, and the error says what to do.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "hub/hub_settings.h"

namespace tritonsmith::hub {

// The receiver of the bytes of a download.
class ByteTarget {
 public:
  virtual ~ByteTarget() = default;
  virtual std::int64_t position() const = 0;  // bytes that are there already
  virtual Status restart() = 0;               // the server begins anew
  virtual Status take(std::string_view bytes) = 0;
};

class HubConnection {
 public:
  explicit HubConnection(const HubSettings& settings);
  ~HubConnection();

  struct Page {
    Json json;
    std::string next;  // the path of the page after it; empty: it is the last
  };
  // `path` begins with a slash. `what` is what an error calls the repository.
  Result<Page> page(const std::string& path, const std::string& what);
  // Downloads what is missing of `size` bytes.
  Status download(const std::string& path, const std::string& what, std::int64_t size,
                  ByteTarget& target);

 private:
  struct Client;
  struct Answer;
  struct Failure;
  Client& client_of(const std::string& origin);
  std::optional<Failure> get(const std::string& path, ByteTarget* target, Answer& answer);
  std::optional<Failure> get_once(const std::string& origin, const std::string& path,
                                  ByteTarget* target, Answer& answer);
  void rest(const Failure& failure, int attempt) const;
  tl::unexpected<Error> error_of(const Failure& failure, const std::string& what) const;

  const HubSettings& settings_;
  std::string origin_, prefix_;  // of the endpoint: "https://host" and what follows it
  std::map<std::string, std::unique_ptr<Client>> clients_;
};

// Bytes that a URL's path cannot hold become %XX; `kept` names signs that stay beside letters,
// digits and "-_.~".
std::string url_encoded(std::string_view text, std::string_view kept);

}  // namespace tritonsmith::hub
