// Access: who may talk to the service: whoever shows one of its bearer tokens. Pure, but for
// reading the tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace tritonsmith::gym::service {

class Access {
 public:
  // No tokens: everybody.
  explicit Access(const std::vector<std::string>& tokens);
  bool is_open() const { return digests_.empty(); }
  // `header`: the value of "Authorization". Takes the same time whatever token it shows.
  bool admits(std::string_view header) const;

 private:
  std::vector<Digest> digests_;
};

}  // namespace tritonsmith::gym::service
