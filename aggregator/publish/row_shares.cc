#include "aggregator/publish/row_shares.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace fieldcost::publish {
namespace {

using Claims = std::vector<const RowClaim*>;

constexpr int kLevels = 3;

bool HasPrecedence(const RowClaim* a, const RowClaim* b) {
  return a->agents != b->agents ? a->agents > b->agents : a->tie_hash < b->tie_hash;
}

std::string_view NameAt(int level, const RowClaim& claim) {
  return level == 0 ? claim.library : level == 1 ? claim.api : claim.version;
}

// Groups the claims by their name at the level, those with precedence first.
std::vector<Claims> GroupsOf(const Claims& claims, int level) {
  std::map<std::string_view, Claims> by_name;
  for (const RowClaim* claim : claims) by_name[NameAt(level, *claim)].push_back(claim);
  std::vector<Claims> groups;
  groups.reserve(by_name.size());
  for (auto& [name, group] : by_name) groups.push_back(std::move(group));
  return groups;
}

// Shares the room among the groups of the level. REQUIRES: `claims` are in order of precedence.
void Share(const Claims& claims, int level, std::size_t room, Claims& chosen) {
  if (level == kLevels || claims.size() <= room) {
    const std::size_t count = std::min(room, claims.size());
    chosen.insert(chosen.end(), claims.begin(),
                  claims.begin() + static_cast<std::ptrdiff_t>(count));
    return;
  }
  std::vector<Claims> groups = GroupsOf(claims, level);
  const auto by_precedence = [](const Claims& a, const Claims& b) {
    return HasPrecedence(a.front(), b.front());
  };
  std::sort(groups.begin(), groups.end(), by_precedence);
  if (groups.size() > room) groups.resize(room);
  // Smallest first: the others share what these do not need.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Claims& a, const Claims& b) { return a.size() < b.size(); });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::size_t share = std::min(groups[i].size(), room / (groups.size() - i));
    Share(groups[i], level + 1, share, chosen);
    room -= share;
  }
}

}  // namespace

std::vector<std::size_t> ChooseRows(const std::vector<RowClaim>& claims, std::size_t room) {
  Claims plain;
  Claims of_class;
  for (const RowClaim& claim : claims) (claim.is_of_class ? of_class : plain).push_back(&claim);
  Claims chosen;
  for (Claims* some : {&plain, &of_class}) {
    const std::size_t left = room - chosen.size();
    std::sort(some->begin(), some->end(), HasPrecedence);
    const std::size_t first = some->size() <= left ? some->size() : left / 2;
    const auto others = some->begin() + static_cast<std::ptrdiff_t>(first);
    chosen.insert(chosen.end(), some->begin(), others);
    Share(Claims(others, some->end()), 0, left - first, chosen);
  }
  std::vector<std::size_t> indices;
  indices.reserve(chosen.size());
  for (const RowClaim* claim : chosen) {
    indices.push_back(static_cast<std::size_t>(claim - claims.data()));
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

}  // namespace fieldcost::publish
