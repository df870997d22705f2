#include "tools/lsp/cxx_index.h"

#include <algorithm>
#include <limits>

#include "common/base/ascii.h"
#include "common/base/check.h"
#include "common/wire/wire_limits.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/source_name.h"

namespace fieldcost::lsp {
namespace {

// The number of symbols with the same last component ("size") that are examined.
constexpr std::size_t kMaxCandidates = 2000;
static_assert(wire::kMaxSymbolBytes <= std::numeric_limits<std::uint16_t>::max());
static_assert(kMaxIndexedNames * wire::kMaxSymbolBytes <=
              std::numeric_limits<std::uint32_t>::max());

std::uint32_t HashOf(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
}

bool EndsWith(const std::vector<std::string>& scopes, const std::vector<std::string>& wanted) {
  return wanted.size() <= scopes.size() &&
         std::equal(wanted.rbegin(), wanted.rend(), scopes.rbegin());
}

std::string Join(const std::vector<std::string>& scopes) {
  std::string text;
  for (const std::string& scope : scopes) text += (text.empty() ? "" : "::") + scope;
  return text;
}

std::string WholeName(const CxxName& name) {
  const std::string scopes = Join(name.scopes);
  return scopes.empty() ? name.name : scopes + "::" + name.name;
}

bool CanBeWritten(std::string_view name) {
  return AreAll(name, [](char c) { return IsWordCharacter(c) || c == ':'; });
}

}  // namespace

void CxxIndex::Add(std::string_view untrusted_symbol) {
  FIELDCOST_CHECK(!finished_);
  if (entries_.size() >= kMaxIndexedNames) return;
  const std::optional<CxxName> name = ParseCxxName(untrusted_symbol);
  if (!name) return;
  const Place place{static_cast<std::uint32_t>(symbols_.size()),
                    static_cast<std::uint16_t>(untrusted_symbol.size())};
  entries_.push_back({HashOf(name->name), place});
  symbols_ += untrusted_symbol;
  const std::string whole = WholeName(*name);
  if (whole.size() > kMaxNameBytes || !CanBeWritten(whole)) return;
  new_names_.push_back({new_names_text_.size(), whole.size(), place});
  new_names_text_ += whole;
}

void CxxIndex::Finish() {
  finished_ = true;
  std::ranges::sort(entries_, {}, [](const Entry& e) { return std::pair(e.hash, e.symbol.begin); });
  const auto text_of = [text = std::string_view(new_names_text_)](const NewName& name) {
    return text.substr(name.begin, name.size);
  };
  std::ranges::sort(new_names_, {}, [&](const NewName& name) {
    return std::pair(text_of(name), name.symbol.begin);
  });
  for (const NewName& name : new_names_) {
    const bool overload = &name != &new_names_.front() && text_of(name) == text_of(*(&name - 1));
    if (!overload) by_name_.push_back(name.symbol);
  }
  new_names_ = {};
  new_names_text_ = {};
  entries_.shrink_to_fit();
  by_name_.shrink_to_fit();
  symbols_.shrink_to_fit();
}

template <typename Wanted>
std::vector<std::string> CxxIndex::FindIf(std::string_view last, const Wanted& wanted) const {
  FIELDCOST_CHECK(finished_);
  std::vector<std::string> symbols;
  const std::uint32_t hash = HashOf(last);
  auto entry = std::lower_bound(entries_.begin(), entries_.end(), hash,
                                [](const Entry& e, std::uint32_t h) { return e.hash < h; });
  for (std::size_t seen = 0; entry != entries_.end() && entry->hash == hash; ++entry) {
    if (++seen > kMaxCandidates || symbols.size() == kMaxOverloads) break;
    const std::string_view symbol = SymbolAt(entry->symbol);
    const std::optional<CxxName> name = ParseCxxName(symbol);
    if (name && name->name == last && wanted(name->scopes)) symbols.emplace_back(symbol);
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

std::vector<std::string> CxxIndex::Find(
    std::string_view qualified, const std::set<std::string, std::less<>>& used_namespaces) const {
  std::vector<std::string> wanted = SplitScopes(qualified);
  if (wanted.empty()) return {};
  const std::string last = std::move(wanted.back());
  wanted.pop_back();
  return FindIf(last, [&](const std::vector<std::string>& scopes) {
    return wanted.empty() ? scopes.empty() || used_namespaces.contains(Join(scopes))
                          : EndsWith(scopes, wanted);
  });
}

std::vector<std::string> CxxIndex::FindMembers(std::string_view name) const {
  return FindIf(name, [](const std::vector<std::string>& scopes) { return !scopes.empty(); });
}

std::vector<std::string> CxxIndex::FindPrefix(std::string_view prefix, std::size_t limit) const {
  FIELDCOST_CHECK(finished_);
  // Names are recomputed from their symbols, in a few microseconds each, rather than stored.
  const auto name_of = [this](Place place) {
    const std::optional<CxxName> name = ParseCxxName(SymbolAt(place));
    FIELDCOST_CHECK(name.has_value());
    return WholeName(*name);
  };
  std::vector<std::string> names;
  for (auto at = std::ranges::lower_bound(by_name_, prefix, {}, name_of);
       at != by_name_.end() && names.size() < limit; ++at) {
    std::string name = name_of(*at);
    if (!name.starts_with(prefix)) break;
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace fieldcost::lsp
