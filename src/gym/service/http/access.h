// Access: who may talk to the service: whoever shows one of its bearer tokens, as often as that
// token may. Any thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"

namespace tritonsmith::gym::service {

struct Token {
  std::string name;             // in the access log and in refusals
  std::string token;            // what is shown
  int unfinished_jobs = 0;      // at most, at a time; 0: the service's limit only
  int requests_per_minute = 0;  // 0: no limit
};

// Reads a TOML file with a section for each token: [NAME], token, unfinished_jobs,
// requests_per_minute. No two names and no two tokens are equal, and there is one at least.
Result<std::vector<Token>> read_tokens_file(const std::string& file);

class Access {
 public:
  // No tokens: everybody.
  explicit Access(std::vector<Token> tokens, const Clock& clock = system_clock());
  bool is_open() const { return tokens_.empty(); }
  // Returns whose token the value of "Authorization" shows, or nullptr. Takes the same time
  // whatever token it shows.
  const Token* find(std::string_view header) const;
  // Counts a request of the token. Returns 0, or for how many seconds it has to wait, and then
  // counts nothing.
  int seconds_to_wait(const Token& token);

 private:
  // Fills up steadily, to what one minute allows.
  struct Allowance {
    double requests = 0;
    TimePoint at;
  };

  std::vector<Token> tokens_;
  std::vector<Digest> digests_;  // of each token
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Allowance> allowances_;  // by name
};

}  // namespace tritonsmith::gym::service
