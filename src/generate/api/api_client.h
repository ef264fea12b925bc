// ApiClient: one connection to a server of OpenAI's protocol. It sends one request at a time and
// reads the answer, once: ApiWriter decides about repetition. One thread calls it, but stop().
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "generate/api/api_config.h"
#include "generate/api/protocol.h"
#include "generate/api/retry.h"

namespace tritonsmith::generate {

class ApiClient {
 public:
  // The key may be empty.
  ApiClient(const ApiConfig& config, ApiAddress address, const std::string& key);
  ~ApiClient();

  struct Listener {
    std::function<void(std::string_view)> on_text;
    std::function<bool()> is_cancelled;  // asked at every piece that arrives
  };
  tl::expected<ApiReply, ApiFailure> ask(const Json& body, const Listener& listener);
  tl::expected<std::vector<ApiModel>, ApiFailure> models();
  // Ends the request that runs, from any thread; it fails.
  void stop();

 private:
  struct Connection;  // keeps httplib.h out of this header
  struct Answer;
  const ApiConfig& config_;
  ApiAddress address_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace tritonsmith::generate
