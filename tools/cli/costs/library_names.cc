#include "tools/cli/costs/library_names.h"

#include <algorithm>
#include <utility>

#include "common/base/ascii.h"
#include "common/base/nearest.h"
#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxListed = 12;

// "z" for "zlib", "libz.so.1" and "libz-1.3.so": the part common to all spellings of the name.
std::string StemOf(std::string_view name) {
  std::string stem = LowerCase(name.substr(0, name.find(".so")));
  for (std::size_t at = stem.find("lib"); at != std::string::npos; at = stem.find("lib")) {
    stem.erase(at, 3);
  }
  stem.erase(std::min(stem.find_last_not_of("0123456789.-_") + 1, stem.size()));
  return stem;
}

std::vector<std::string> NearNames(const Sonames& sonames, const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> near;
  const std::size_t max_edits = MaxEdits(name);
  const std::string stem = StemOf(name);
  for (const std::string& soname : sonames) {
    const bool same_stem = !stem.empty() && StemOf(soname) == stem;
    const std::size_t edits = same_stem ? 0 : EditDistance(name, soname, max_edits);
    if (edits <= max_edits) near.emplace_back(edits, soname);
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (auto& [edits, soname] : near) names.push_back(std::move(soname));
  return names;
}

}  // namespace

Result<std::vector<std::string>> MatchLibraries(const Sonames& sonames, const std::string& name) {
  if (sonames.contains(name)) return std::vector<std::string>{name};
  std::vector<std::string> found;
  const auto add_if = [&](auto matches) {
    std::ranges::copy_if(sonames, std::back_inserter(found), matches);
  };
  add_if([&](const std::string& soname) { return GlobMatch(name, soname); });
  if (found.empty() && !name.empty()) {
    add_if([&](const std::string& soname) { return soname.find(name) != std::string::npos; });
  }
  if (!found.empty()) return found;
  std::string why = fmt::format("no library named {}", EscapeControl(name));
  if (const std::vector<std::string> near = NearNames(sonames, name); !near.empty()) {
    why += "; did you mean " + ListText(near, kMaxListed) + "?";
  } else if (!sonames.empty()) {
    why += "; available: " + ListText(std::vector(sonames.begin(), sonames.end()), kMaxListed);
  }
  return Fail(ErrorCode::kNotFound, "{}", why);
}

}  // namespace fieldcost::cli
