#include "gym/service/routes/route.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace tritonsmith::gym::service {
namespace {

// Returns the part of `path` in place of {NAME}, or nothing if the path does not fit the pattern.
std::optional<std::string> match(const std::string& pattern, const std::string& path) {
  const std::size_t brace = pattern.find('{');
  if (brace == std::string::npos)
    return path == pattern ? std::optional<std::string>("") : std::nullopt;
  if (path.size() <= brace || path.compare(0, brace, pattern, 0, brace) != 0) return std::nullopt;
  return path.substr(brace);
}

}  // namespace

void RouteTable::add(std::vector<Route> routes) {
  for (Route& route : routes) routes_.push_back(std::move(route));
}

HttpReply RouteTable::answer(const HttpCall& call) const {
  std::vector<std::string> methods;
  for (const Route& route : routes_) {
    const auto name = match(route.path, call.path);
    if (!name) continue;
    if (route.method == call.method || (route.method == "GET" && call.gets()))
      return route.answer(call, *name);
    methods.push_back(route.method);
    if (route.method == "GET") methods.emplace_back("HEAD");
  }
  if (methods.empty())
    return error_reply(404, "not_found",
                       fmt::format("there is no {} {}; see /openapi.json", call.method, call.path));
  std::ranges::sort(methods);
  HttpReply reply = error_reply(
      405, "method_not_allowed",
      fmt::format("{} has no {}; it has {}", call.path, call.method, fmt::join(methods, ", ")));
  reply.allow = fmt::format("{}", fmt::join(methods, ", "));
  return reply;
}

bool RouteTable::is_public(const std::string& path) const {
  return std::ranges::any_of(
      routes_, [&](const Route& route) { return route.is_public && match(route.path, path); });
}

}  // namespace tritonsmith::gym::service
