#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fieldcost::publish {

// A row that competes for room in its fragment.
struct RowClaim {
  std::string library;         // soname
  std::string api;             // its symbol
  std::string version;         // of the package, build and symbol
  bool is_of_class = false;    // of a single hardware class
  std::uint64_t agents = 0;    // number that have contributed to it
  std::uint64_t tie_hash = 0;  // breaks ties, so that the order of names does not
};

// Chooses at most `room` rows, as ascending indices. Agents choose all names, so a few may claim
// far more rows than there is room for. Therefore:
//
// 1. Rows over all classes come first; rows of single classes share the remaining room.
// 2. Half of the room goes to the rows with the most agents. So m keys that name q rows each can
//    take this half from a row with a agents only if m * q / a is more than half of the room.
// 3. The other half is shared equally among libraries, within a library among its APIs, within an
//    API among its versions, and finally by the number of agents. Unused shares go to the others.
//    So invented versions displace only rows of the same API, and invented APIs only rows of the
//    same library.
//
// The result does not depend on the order of `claims`. Pure.
std::vector<std::size_t> ChooseRows(const std::vector<RowClaim>& claims, std::size_t room);

}  // namespace fieldcost::publish
