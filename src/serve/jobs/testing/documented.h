// Finds the endpoints of docs/openapi.json that a folder serves, for the tests of that folder.
#pragma once

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "gym/service/routes/route.h"

namespace tritonsmith::serve {

// Returns "post /v1/rewards" for each operation that is marked so: "x-served-by": FOLDER. Tests run
// in the root of the tree.
inline std::set<std::string> documented_by(const std::string& folder) {
  std::ifstream file("docs/openapi.json");
  const Json document = Json::parse(file);
  std::set<std::string> documented;
  for (const auto& [path, methods] : document["paths"].items())
    for (const auto& [method, operation] : methods.items())
      if (operation.value("x-served-by", "") == folder) documented.insert(method + " " + path);
  return documented;
}

// Returns the members that the document gives a schema of its components.
inline std::set<std::string> members_of_schema(const std::string& name) {
  std::ifstream file("docs/openapi.json");
  const Json document = Json::parse(file);
  std::set<std::string> members;
  for (const auto& [member, schema] :
       document["components"]["schemas"].at(name)["properties"].items())
    members.insert(member);
  return members;
}

inline std::set<std::string> names_of(const std::vector<gym::service::Route>& routes) {
  std::set<std::string> names;
  for (const gym::service::Route& route : routes) {
    std::string name = route.method + " " + route.path;
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    names.insert(name);
  }
  return names;
}

}  // namespace tritonsmith::serve
