// Opens HTTP clients of a `gym serve` that show its token.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "gym/api/token.h"

namespace httplib {
class Client;
}

namespace tritonsmith::gym::remote {

// Fails if the URL is none.
Result<std::shared_ptr<httplib::Client>> service_client(const api::ServiceUrl& service);

}  // namespace tritonsmith::gym::remote
