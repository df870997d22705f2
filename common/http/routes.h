#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::http {

// Whether the decoded parts of a path (ParseTarget()) fit a pattern such as "/events/*/mark", where
// "*" matches any single part.
bool PathFits(std::string_view pattern, const std::vector<std::string>& path);

template <typename Route>
struct FoundRoute {
  const Route* route = nullptr;
  std::string allowed;  // without a route: the methods that the path accepts, for 405; "" = 404
};

// Looks up a request in a server's table. Route has the members `method` and `path`, a pattern.
template <typename Route>
FoundRoute<Route> FindRoute(std::span<const Route> routes, std::string_view method,
                            const std::vector<std::string>& path) {
  FoundRoute<Route> found;
  for (const Route& route : routes) {
    if (!PathFits(route.path, path)) continue;
    if (route.method == method) return {.route = &route};
    if (!found.allowed.empty()) found.allowed += ", ";
    found.allowed += route.method;
  }
  return found;
}

}  // namespace fieldcost::http
