#include "gym/service/http/access.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/base64.h"
#include "base/config.h"
#include "gym/api/submission.h"
#include "gym/api/token.h"

namespace tritonsmith::gym::service {
namespace {

// One section of the tokens file.
struct TokenSection {
  std::string token;
  int unfinished_jobs = 0;
  int requests_per_minute = 0;
  bool is_operator = false;
  static Fields<TokenSection> fields() {
    using C = TokenSection;
    constexpr int most = 1 << 24;
    return {
        field("token", &C::token, "The text that a client shows."),
        field("unfinished_jobs", &C::unfinished_jobs, "How many of its jobs may be unfinished.",
              between(1, most)),
        field("requests_per_minute", &C::requests_per_minute,
              "How many requests it may send in a minute.", between(1, most)),
        field("operator", &C::is_operator, "Whether its user may change the quarantine of GPUs.")};
  }
};

Status check_tokens(const std::string& file, const std::vector<Token>& tokens) {
  if (tokens.empty())
    return fail("{}: no token; write a section [NAME] with token = \"...\" for each", file);
  for (const Token& token : tokens) {
    if (!api::is_client_name(token.name))
      return fail("{}: [{}] is no name of letters, digits, '.', '_' and '-'", file, token.name);
    TRY_WITHIN(fmt::format("{}: [{}]", file, token.name), api::check_token(token.token));
    if (std::ranges::count(tokens, token.token, &Token::token) > 1)
      return fail("{}: [{}] has the token of another section", file, token.name);
  }
  return ok();
}

// Returns the token that the value of "Authorization" holds, or nothing for another scheme.
std::optional<std::string> secret_in(std::string_view header) {
  constexpr std::string_view bearer = "Bearer ", basic = "Basic ";
  if (header.starts_with(bearer)) return std::string(header.substr(bearer.size()));
  if (!header.starts_with(basic)) return std::nullopt;
  const auto pair = base64_decode(header.substr(basic.size()));  // USER:PASSWORD
  const std::size_t colon = pair ? pair->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return pair->substr(colon + 1);
}

}  // namespace

Result<std::vector<Token>> read_tokens_file(const std::string& file) {
  TRY_ASSIGN(const Settings settings, settings_from_toml_file(file));
  std::vector<Token> tokens;
  for (const auto& [name, value] : settings) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos)
      return fail("{}: '{}' stands outside of a section [NAME]", file, name);
    const std::string section = name.substr(0, dot);
    auto at = std::ranges::find(tokens, section, &Token::name);
    if (at == tokens.end()) at = tokens.insert(tokens.end(), Token{.name = section});
    TokenSection read{.token = at->token,
                      .unfinished_jobs = at->unfinished_jobs,
                      .requests_per_minute = at->requests_per_minute,
                      .is_operator = at->is_operator};
    TRY(apply_settings(read, {{name.substr(dot + 1), value}},
                       fmt::format("{}: [{}]", file, section)));
    at->token = read.token;
    at->unfinished_jobs = read.unfinished_jobs;
    at->requests_per_minute = read.requests_per_minute;
    at->is_operator = read.is_operator;
  }
  TRY(check_tokens(file, tokens));
  return tokens;
}

Access::Access(std::vector<Token> tokens, const Clock& clock)
    : tokens_(std::move(tokens)), clock_(clock) {
  for (const Token& token : tokens_) {
    digests_.push_back(sha256(token.token));
    allowances_[token.name] = {.requests = static_cast<double>(token.requests_per_minute),
                               .at = clock_.now()};
  }
}

const Token* Access::find(std::string_view header) const {
  const auto secret = secret_in(header);
  if (!secret) return nullptr;
  const Digest shown = sha256(*secret);
  const Token* found = nullptr;
  for (std::size_t k = 0; k < digests_.size(); ++k) {
    unsigned difference = 0;
    for (std::size_t i = 0; i < shown.size(); ++i)
      difference |= static_cast<unsigned>(digests_[k][i] ^ shown[i]);
    found = difference == 0 ? &tokens_[k] : found;
  }
  return found;
}

int Access::seconds_to_wait(const Token& token) {
  if (token.requests_per_minute == 0) return 0;
  constexpr double minute = 60;
  const double most = token.requests_per_minute;
  const std::lock_guard lock(mutex_);
  Allowance& allowance = allowances_.at(token.name);
  const TimePoint now = clock_.now();
  const double seconds = std::chrono::duration<double>(now - allowance.at).count();
  allowance.requests = std::min(most, allowance.requests + seconds * most / minute);
  allowance.at = now;
  if (allowance.requests < 1) {
    constexpr double rounding = 1e-6;
    const double seconds_left = (1 - allowance.requests) * minute / most;
    return std::max(1, static_cast<int>(std::ceil(seconds_left - rounding)));
  }
  allowance.requests -= 1;
  return 0;
}

}  // namespace tritonsmith::gym::service
