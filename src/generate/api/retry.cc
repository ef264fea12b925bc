#include "generate/api/retry.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace tritonsmith::generate {
namespace {

bool mentions(const std::string& text, std::string_view words) {
  return std::search(text.begin(), text.end(), words.begin(), words.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != text.end();
}

bool is_about_length(const ApiFailure& failure) {
  return failure.code == "context_length_exceeded" || mentions(failure.message, "context length") ||
         mentions(failure.message, "maximum context") ||
         mentions(failure.message, "prompt is too long");
}

std::optional<double> number(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

}  // namespace

AfterFailure after(const ApiFailure& failure) {
  constexpr int kConflict = 409, kTooEarly = 425, kTimeout = 408, kTooMany = 429;
  if (failure.is_final || failure.code == "insufficient_quota") return AfterFailure::give_up;
  const int status = failure.status;
  if (status == 0 || status >= 500 || status == kConflict || status == kTooEarly ||
      status == kTimeout || status == kTooMany)
    return AfterFailure::ask_again;
  if (status == 413 || (status == 400 && is_about_length(failure))) return AfterFailure::finish_cut;
  if (status == 400 && mentions(failure.code, "content_filter"))
    return AfterFailure::finish_filtered;
  return AfterFailure::give_up;
}

bool is_busy(const ApiFailure& failure) {
  return failure.status == 429 || (failure.status == 503 && failure.retry_after_seconds);
}

double wait_seconds(const ApiFailure& failure, int attempt, const ApiConfig& config,
                    double random) {
  constexpr int most_doublings = 30;
  const double doubled =
      config.first_wait_seconds * std::pow(2.0, std::min(attempt - 1, most_doublings));
  const double own = std::min(doubled, config.longest_wait_seconds) * (1 - random / 2);
  return std::max(own, failure.retry_after_seconds.value_or(0));
}

std::optional<double> retry_after_seconds(const std::string& retry_after,
                                          const std::string& milliseconds, double unix_seconds) {
  if (const auto exact = number(milliseconds)) return *exact / 1e3;
  if (const auto seconds = number(retry_after)) return seconds;
  std::tm date{};
  if (::strptime(retry_after.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr)
    return std::nullopt;
  return std::max(0.0, static_cast<double>(::timegm(&date)) - unix_seconds);
}

}  // namespace tritonsmith::generate
