#include "tools/cli/costs/library_versions.h"

#include <algorithm>
#include <map>

#include "common/base/text.h"
#include "tools/analysis/version_order.h"
#include "tools/cli/costs/library_names.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxListedVersions = 12;

template <typename Items, typename Name>
std::string List(const Items& items, Name name) {
  std::string text;
  std::size_t listed = 0;
  for (const auto& item : items) {
    if (++listed > kMaxListedVersions) return text + ", ...";
    text += (text.empty() ? "" : ", ") + EscapeControl(name(item));
  }
  return text;
}

using SymbolsByLibrary = std::map<std::string, std::vector<std::string>, std::less<>>;

// Reads the symbols of these libraries, possibly also of others.
Result<SymbolsByLibrary> ReadNames(const Source& source, const std::vector<std::string>& sonames) {
  const catalog::NameParts parts{
      .symbol = {}, .library = sonames.size() == 1 ? sonames : std::vector<std::string>()};
  SymbolsByLibrary libraries;
  FIELDCOST_TRY(
      source.ForEachCandidate(parts, [&](std::string_view soname, std::string_view symbol) {
        auto found = libraries.find(soname);
        if (found == libraries.end()) found = libraries.emplace(soname, 0).first;
        found->second.emplace_back(symbol);
        return true;
      }));
  return libraries;
}

LibraryApis Take(SymbolsByLibrary::value_type& library) {
  std::ranges::sort(library.second);
  library.second.erase(std::unique(library.second.begin(), library.second.end()),
                       library.second.end());
  return {.soname = library.first, .symbols = std::move(library.second), .versions = {}};
}

}  // namespace

Result<std::vector<LibraryApis>> FindLibraries(const Source& source, const std::string& name) {
  Sonames sonames;
  FIELDCOST_TRY(source.ForEachLibrary([&](std::string_view soname) { sonames.emplace(soname); }));
  FIELDCOST_ASSIGN(const std::vector<std::string> matches, MatchLibraries(sonames, name));
  FIELDCOST_ASSIGN(SymbolsByLibrary libraries, ReadNames(source, matches));
  std::vector<LibraryApis> found;
  for (const std::string& soname : matches) {
    found.push_back(Take(*libraries.try_emplace(soname).first));
  }
  return found;
}

Result<LibraryApis> FindLibrary(const Source& source, const std::string& name) {
  FIELDCOST_ASSIGN(std::vector<LibraryApis> found, FindLibraries(source, name));
  if (found.size() == 1) return std::move(found[0]);
  return Fail(ErrorCode::kInvalidArgument, "{} matches several libraries; choose one: {}",
              EscapeControl(name), List(found, [](const auto& one) { return one.soname; }));
}

Status ForEachRowOf(const Source& source, const LibraryApis& library,
                    const std::function<void(std::span<const stats::StatRow> rows)>& visit) {
  for (const std::string& symbol : library.symbols) {
    FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, source.Find(symbol, library.soname));
    visit(rows);
  }
  return {};
}

Status ReadVersions(const Source& source, LibraryApis& library) {
  std::map<std::string, std::uint64_t, analysis::OlderVersion> versions;
  FIELDCOST_TRY(ForEachRowOf(source, library, [&](std::span<const stats::StatRow> rows) {
    for (const stats::StatRow& row : rows) ++versions[analysis::VersionOf(row.key.api)];
  }));
  library.versions.clear();
  for (const auto& [name, rows] : versions) library.versions.push_back({name, rows});
  return {};
}

std::string VersionsText(const LibraryApis& library) {
  return List(library.versions, [](const auto& version) { return version.name; });
}

Result<std::string> FindVersion(const LibraryApis& library, std::string_view text) {
  std::vector<std::string> found;
  for (const LibraryVersion& version : library.versions) {
    if (version.name == text) return version.name;
    if (!text.empty() && version.name.starts_with(text)) found.push_back(version.name);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return Fail(ErrorCode::kNotFound, "no version {} of {}; available: {}", EscapeControl(text),
                EscapeControl(library.soname), VersionsText(library));
  }
  return Fail(ErrorCode::kInvalidArgument, "{} versions of {} begin with {}; choose one: {}",
              found.size(), EscapeControl(library.soname), EscapeControl(text),
              List(found, [](const auto& one) { return one; }));
}

}  // namespace fieldcost::cli
