#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fieldcost::http {

// Whether the parts of a path (ParseTarget(), PlainPath) fit a pattern such as "/events/*/mark",
// where "*" matches any single part. `Path` is an array of strings or string views.
template <typename Path>
bool PathFits(std::string_view pattern, const Path& path) {
  pattern.remove_prefix(1);
  std::size_t i = 0;
  for (; !pattern.empty(); ++i) {
    const std::string_view part = pattern.substr(0, pattern.find('/'));
    if (i == path.size() || (part != "*" && part != path[i])) return false;
    pattern.remove_prefix(std::min(pattern.size(), part.size() + 1));
  }
  return i == path.size();
}

template <typename Route>
struct FoundRoute {
  const Route* route = nullptr;
  std::string allowed;  // without a route: the methods that the path accepts, for 405; "" = 404
};

// Looks up a request in a server's table. Route has the members `method` and `path`, a pattern.
// Allocates nothing if a route is found.
template <typename Route, typename Path>
FoundRoute<Route> FindRoute(std::span<const Route> routes, std::string_view method,
                            const Path& path) {
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
