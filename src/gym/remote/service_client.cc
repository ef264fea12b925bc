#include "gym/remote/service_client.h"

#include <httplib.h>

namespace tritonsmith::gym::remote {

Result<std::shared_ptr<httplib::Client>> service_client(const api::ServiceUrl& service) {
  auto client = std::make_shared<httplib::Client>(service.url);
  if (!client->is_valid()) return fail("'{}' is no URL, as in http://127.0.0.1:8800", service.url);
  if (!service.token.empty()) client->set_bearer_token_auth(service.token);
  return client;
}

}  // namespace tritonsmith::gym::remote
