#include "gym/service/access.h"

namespace tritonsmith::gym::service {

Access::Access(const std::vector<std::string>& tokens) {
  for (const std::string& token : tokens) digests_.push_back(sha256(token));
}

bool Access::admits(std::string_view header) const {
  if (is_open()) return true;
  constexpr std::string_view scheme = "Bearer ";
  if (!header.starts_with(scheme)) return false;
  const Digest shown = sha256(header.substr(scheme.size()));
  bool admitted = false;
  for (const Digest& known : digests_) {
    unsigned difference = 0;
    for (std::size_t i = 0; i < known.size(); ++i)
      difference |= static_cast<unsigned>(known[i] ^ shown[i]);
    admitted = admitted || difference == 0;
  }
  return admitted;
}

}  // namespace tritonsmith::gym::service
