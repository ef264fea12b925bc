// Access: decides who may use the service: a caller that shows one of its bearer tokens, as often
// as that token allows. Any thread may call it.
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
  std::string name;             // appears in the access log and in refusals
  std::string token;            // the secret that the caller shows
  int unfinished_jobs = 0;      // the most at a time; 0: only the service's own limit
  int requests_per_minute = 0;  // 0: no limit
  bool is_operator = false;     // it may change how the gym works: the quarantine of GPUs
};

// Reads a TOML file with a section for each token: [NAME], token, unfinished_jobs,
// requests_per_minute, operator. Fails if two names or two tokens are equal, or if there is no token.
Result<std::vector<Token>> read_tokens_file(const std::string& file);

class Access {
 public:
  // Without tokens, everybody may use the service.
  explicit Access(std::vector<Token> tokens, const Clock& clock = system_clock());
  bool is_open() const { return tokens_.empty(); }
  // Returns the token that the value of "Authorization" shows, or nullptr. It takes the same time
  // for every value. "Bearer TOKEN" shows a token, and so does "Basic" with the token as password:
  // clients that know only a URL send that for http://any:TOKEN@HOST.
  const Token* find(std::string_view header) const;
  // Counts a request of the token and returns 0. If the token has used up its requests, it counts
  // nothing and returns the seconds to wait.
  int seconds_to_wait(const Token& token);

 private:
  // The requests that a token may still make. It grows steadily, up to what one minute allows.
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
