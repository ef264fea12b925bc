// VerdictSeal: how verdicts are written to a store that many hosts share, and read again. With a key
// each verdict is sealed together with its job's name, and one without that seal is refused.
#pragma once

#include "data/verdict.h"
#include "gym/service/redis/sealed_text.h"

namespace tritonsmith::gym::service {

class VerdictSeal {
 public:
  // Without a key ("") verdicts have no seal.
  explicit VerdictSeal(std::string key) : key_(std::move(key)) {}

  std::string sealed(const std::string& name, const Verdict& verdict) const {
    std::string text = to_line(to_json(verdict));
    return key_.empty() ? text : seal(key_, {"verdict", name}, text);
  }
  // Returns the text of a verdict that the store has under this name, or nothing ("") for none.
  Result<std::string> opened(const std::string& name, const std::string& stored) const {
    if (stored.empty()) return stored;
    if (!key_.empty()) return open_sealed(key_, {"verdict", name}, stored);
    if (stored.starts_with('{')) return stored;
    return fail_by_fault("the verdict of job {} is sealed: give the key with --verdict-key", name);
  }

 private:
  std::string key_;
};

}  // namespace tritonsmith::gym::service
