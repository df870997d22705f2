#include "tools/cli/costs/find_api.h"

#include <algorithm>
#include <set>

#include "common/base/text.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/summary.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxCandidates = 20;

struct ApiName {
  std::string_view soname;  // empty = any
  std::string_view symbol;
};

Result<ApiName> ParseName(std::string_view text) {
  const std::size_t mark = text.find('!');
  const ApiName name = mark == std::string_view::npos
                           ? ApiName{"", text}
                           : ApiName{text.substr(0, mark), text.substr(mark + 1)};
  if (name.symbol.empty() || mark == 0) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is neither a symbol nor soname!symbol", text);
  }
  return name;
}

Result<Error> Unknown(const Source& source, const std::string& name, std::string_view symbol) {
  FIELDCOST_ASSIGN(const std::vector<std::string> suggestions, source.Suggest(symbol));
  std::string why = fmt::format("no measurements of {}", name);
  // "libz": a library's name or its beginning.
  const Result<std::string> library = source.LibraryGlob(name);
  if (library && library->starts_with(name)) {
    why += fmt::format("; of the library: fieldcost top --library {}", EscapeControl(*library));
    return Error{ErrorCode::kNotFound, why};
  }
  if (!suggestions.empty()) {
    why += fmt::format("; did you mean {}?", ListText(suggestions, kMaxCandidates));
  }
  const auto& freshness = source.freshness();
  if (freshness && freshness->fragments_current < freshness->fragments_total) {
    why += " (the local catalogue is incomplete: fieldcost sync --full)";
  }
  return Error{ErrorCode::kNotFound, why};
}

}  // namespace

Status CheckApiName(std::string_view untrusted_name) {
  FIELDCOST_TRY(ParseName(untrusted_name));
  return {};
}

Result<std::vector<analysis::CostSummary>> FindApi(const Source& source, const std::string& name,
                                                   const analysis::Selection& selection) {
  FIELDCOST_ASSIGN(const ApiName parsed, ParseName(name));
  FIELDCOST_ASSIGN(std::vector<stats::StatRow> rows, source.Find(parsed.symbol, parsed.soname));
  if (rows.empty()) {
    FIELDCOST_ASSIGN(rows, source.FindCxx(parsed.symbol, parsed.soname));
  }
  if (rows.empty()) {
    FIELDCOST_ASSIGN(Error unknown, Unknown(source, name, parsed.symbol));
    return unknown;
  }
  std::set<std::string> candidates;
  for (const stats::StatRow& row : rows) candidates.insert(names::ShownName(row.key.api));
  if (candidates.size() > 1) {
    const bool same = std::ranges::all_of(rows, [&](const stats::StatRow& row) {
      return row.key.api.symbol == rows[0].key.api.symbol;
    });
    return Fail(ErrorCode::kInvalidArgument, "{} is {}; choose one: {}", name,
                same ? "in several libraries" : "the name of several functions",
                ListText(std::vector(candidates.begin(), candidates.end()), kMaxCandidates));
  }
  std::vector<analysis::CostSummary> summaries =
      source.Summarise(analysis::Select(rows, selection));
  if (summaries.empty()) {
    std::vector<stats::RowKey> keys;
    for (const stats::StatRow& row : rows) keys.push_back(row.key);
    return Fail(ErrorCode::kNotFound, "{}", analysis::MissingText(name, keys, selection));
  }
  return summaries;
}

}  // namespace fieldcost::cli
