// Route: one endpoint of the service. RouteTable: all of them (routes.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gym/service/http_call.h"

namespace tritonsmith::gym::service {

struct Route {
  // Receives the part of the path in place of {NAME}, or "" without one.
  using Answer = std::function<HttpReply(const HttpCall& call, const std::string& name)>;

  std::string method;  // GET answers HEAD too
  std::string path;    // "/v1/jobs", or "/v1/jobs/{id}", where {id} stands for the rest
  Answer answer;
  bool is_public = false;  // answered without a token
};

class RouteTable {
 public:
  void add(std::vector<Route> routes);
  const std::vector<Route>& routes() const { return routes_; }

  // Replies 404 for an unknown path, and 405 for a method that the path does not have.
  HttpReply answer(const HttpCall& call) const;
  bool is_public(const std::string& path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace tritonsmith::gym::service
