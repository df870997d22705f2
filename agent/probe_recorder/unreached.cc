#include "agent/probe_recorder/unreached.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/probe_recorder/stack_namer.h"
#include "agent/symbols/name_helper.h"
#include "common/base/nearest.h"
#include "common/base/text.h"

namespace fieldcost::probe {
namespace {

constexpr char kUseTheMacro[] = "; mark it in the source with FIELDCOST_POINT";

// A library is named by its soname, which is a prefix of its file name.
bool IsNamed(const std::string& pattern, const std::string& path) {
  const std::string name = FileNameOf(path);
  return GlobMatch(pattern, name) || GlobMatch(pattern + ".*", name) ||
         GlobMatch(pattern + ".so*", name);
}

bool WasPassed(const NamedPoint& point, const SeenPoints& seen) {
  return std::ranges::any_of(seen.passed, [&](const auto& passed) {
    return GlobMatch(point.at, passed.first) &&
           (passed.second == point.label || passed.second == point.event);
  });
}

bool IsPlaced(std::size_t number, const SeenPoints& seen) {
  return number / 64 < seen.placed.size() && (seen.placed[number / 64] >> (number % 64) & 1) != 0;
}

// Explains why a point was not placed anywhere.
std::string WhyNotPlaced(const NamedPoint& point, const SeenPoints& seen) {
  const std::size_t mark = point.at.find('!');
  const std::string library = point.at.substr(0, mark);
  const std::string function = point.at.substr(mark + 1);
  std::vector<std::string> files;
  std::vector<std::string> names;
  for (const std::string& path : seen.modules) {
    if (!IsNamed(library, path)) continue;
    files.push_back(FileNameOf(path));
    if (auto found = symbols::NamesOfFunctions(path)) {
      names.insert(names.end(), found->begin(), found->end());
    }
  }
  if (files.empty()) return fmt::format("no program or library called {} was loaded", library);
  const bool is_there = std::ranges::any_of(
      names, [&](const std::string& name) { return GlobMatch(function, name); });
  if (is_there) return std::string("it is not called through a slot (PLT or GOT)") + kUseTheMacro;
  const std::string meant = MeantName(function, names);
  return fmt::format("no such function in {}{}{}", files.front(),
                     meant.empty() ? "" : ": did you mean " + meant + "?",
                     meant.empty() ? std::string("; an inlined one needs FIELDCOST_POINT") : "");
}

}  // namespace

std::vector<std::string> ExplainUnreached(const std::vector<NamedPoint>& points,
                                          const SeenPoints& untrusted_seen) {
  std::vector<std::string> lines;
  for (std::size_t number = 0; number < points.size(); ++number) {
    const NamedPoint& point = points[number];
    if (WasPassed(point, untrusted_seen)) continue;
    const std::string why = IsPlaced(number, untrusted_seen) ? "no call of it was seen"
                                                             : WhyNotPlaced(point, untrusted_seen);
    lines.push_back(
        EscapeControl(fmt::format("point {} was never passed: {}: {}",
                                  point.label.empty() ? point.event : point.label, point.at, why)));
  }
  return lines;
}

}  // namespace fieldcost::probe
