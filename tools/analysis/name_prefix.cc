#include "tools/analysis/name_prefix.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/ascii.h"

namespace fieldcost::analysis {
namespace {

constexpr std::size_t kLeastWordBytes = 2;  // before a capital letter

// The lengths of a name's prefixes, ascending; the name itself is the last, unless it is too long.
std::vector<std::size_t> PrefixLengths(std::string_view name) {
  std::vector<std::size_t> lengths;
  std::size_t word = std::min(name.find_first_not_of('_'), name.size());
  for (std::size_t i = word + 1; i < name.size() && i <= kMostPrefixBytes; ++i) {
    const bool after_mark = name[i] != '_' && name[i - 1] == '_';
    const bool capital =
        IsUpperLetter(name[i]) && (IsLowerLetter(name[i - 1]) || IsDigit(name[i - 1]));
    if (after_mark || (capital && i - word >= kLeastWordBytes)) lengths.push_back(i);
    if (after_mark || capital) word = i;
  }
  if (name.size() <= kMostPrefixBytes) lengths.push_back(name.size());
  return lengths;
}

}  // namespace

std::map<std::string, std::string> GroupByPrefix(const std::set<std::string>& untrusted_names) {
  using Names = std::vector<std::string_view>;
  std::map<std::string_view, Names> by_prefix;
  for (const std::string_view name : untrusted_names) {
    for (const std::size_t length : PrefixLengths(name)) {
      by_prefix[name.substr(0, length)].push_back(name);
    }
  }
  for (const std::string& name : untrusted_names) {
    const auto with_mark = by_prefix.find(name + "_");
    if (with_mark != by_prefix.end()) with_mark->second.emplace_back(name);
  }
  std::vector<std::pair<std::string_view, Names>> longest_first(by_prefix.begin(), by_prefix.end());
  std::ranges::stable_sort(longest_first, std::ranges::greater{},
                           [](const auto& one) { return one.first.size(); });
  std::map<std::string, std::string> prefixes;
  for (auto& [prefix, names] : longest_first) {
    std::erase_if(names,
                  [&](std::string_view name) { return prefixes.contains(std::string(name)); });
    if (names.size() < kLeastPrefixNames) continue;
    for (const std::string_view name : names) prefixes.emplace(name, prefix);
  }
  for (const std::string& name : untrusted_names) prefixes.try_emplace(name, kOtherNames);
  return prefixes;
}

}  // namespace fieldcost::analysis
