#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/base/package_owner.h"
#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/names/cxx_name.h"
#include "common/names/cxx_name_parts.h"
#include "tools/analysis/name_prefix.h"
#include "tools/analysis/namespace_of.h"
#include "tools/analysis/version_order.h"

// A symbol and two versions, one per line: names stay bounded, can be searched for and fit every
// width; versions are totally ordered. Also the output of package managers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::analysis;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take_line = [&rest] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    return line;
  };
  const std::string_view symbol = take_line();
  const std::string name = fieldcost::names::DemangledName(symbol);
  FIELDCOST_CHECK(name == symbol || name.size() <= fieldcost::names::kMostDemangledBytes);
  FIELDCOST_CHECK(fieldcost::names::ShortName(symbol).size() <= name.size());
  FIELDCOST_CHECK(fieldcost::names::SplitCxxName(symbol).arguments <= symbol.size());
  FIELDCOST_CHECK(fieldcost::names::NameWithoutArguments(symbol).size() <= symbol.size());
  const std::string group = NamespaceOf(symbol);
  FIELDCOST_CHECK(!group.empty() && group.size() <= name.size() + 16);
  for (const std::size_t width : {0U, 1U, 7U, 24U, 80U}) {
    namespace draw = fieldcost::draw;
    const draw::Style style{.utf8 = width % 2 == 0};
    const std::string escaped = fieldcost::EscapeControl(symbol);
    for (const std::string& text :
         {draw::ShortenName(symbol, width, style), draw::ShortenPath(escaped, width, style),
          draw::ShortenRemark(escaped, width, style)}) {
      FIELDCOST_CHECK(draw::DisplayWidth(text) <= width);
    }
  }
  FIELDCOST_CHECK(fieldcost::PackageIn(rest).size() <= rest.size());
  FIELDCOST_CHECK(fieldcost::RpmOwnerIn(rest).version.size() <= rest.size());
  const std::string_view a = take_line();
  const std::string_view b = take_line();
  (void)fieldcost::names::CxxNameQuery(a).Matches(symbol);
  // Each name has a group, named by its beginning.
  const std::set<std::string> names = {std::string(symbol), std::string(a), std::string(b),
                                       std::string(rest)};
  const auto prefixes = GroupByPrefix(names);
  FIELDCOST_CHECK(prefixes.size() == names.size());
  for (const auto& [one, prefix] : prefixes) {
    FIELDCOST_CHECK(prefix == kOtherNames || (one + "_").starts_with(prefix));
    FIELDCOST_CHECK(prefix.size() <= kMostPrefixBytes);
  }
  const auto forth = CompareVersions(a, b);
  const auto back = CompareVersions(b, a);
  FIELDCOST_CHECK((forth < 0) == (back > 0) && (forth == 0) == (back == 0));
  FIELDCOST_CHECK(CompareVersions(a, a) == 0);
  const OlderVersion older;
  FIELDCOST_CHECK(a == b || older(a, b) != older(b, a));
  return 0;
}
