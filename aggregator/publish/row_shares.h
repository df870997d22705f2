#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fieldcost::publish {

// A row that competes for the room of its fragment.
struct RowClaim {
  std::string library;         // soname
  std::string api;             // its symbol
  std::string version;         // of package, build and symbol
  bool is_of_class = false;    // of a single hardware class
  std::uint64_t agents = 0;    // that have contributed to it
  std::uint64_t tie_hash = 0;  // decides among equal ones, so that the order of names does not
};

// Chooses at most `room` rows, as ascending indices. Agents choose all names, so a few may claim
// far more rows than there is room for. Therefore:
//
// 1. Rows over all classes come first; classes share the room that is left.
// 2. Half of the room goes to the rows with the most agents. So m keys that name q rows each can
//    take this half from a row with a agents only if m * q / a is more than half of the room.
// 3. The other half is shared equally: among libraries, within one among its APIs, within one
//    among its versions, and last by the number of agents. What one does not need the others share.
//    So invented versions displace only rows of the same API, and invented APIs only rows of the
//    same library.
//
// The result does not depend on the order of `claims`. Pure.
std::vector<std::size_t> ChooseRows(const std::vector<RowClaim>& claims, std::size_t room);

}  // namespace fieldcost::publish
