#include <iterator>

#include "tools/cli/commands.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/find_api.h"
#include "tools/cli/source.h"

namespace fieldcost::cli {
namespace {

struct Found {
  std::vector<report::CostSummary> summaries;
  bool more = false;  // than the limit
};

// The summaries of APIs whose names match, in that order.
Result<Found> Look(const Source& source, catalog::SearchOptions options,
                   const report::Selection& selection) {
  const std::size_t limit = options.limit;
  ++options.limit;  // one more tells whether there is more
  FIELDCOST_ASSIGN(std::vector<catalog::FoundApi> names, source.Search(options));
  Found found;
  found.more = names.size() > limit;
  if (found.more) names.resize(limit);
  for (const catalog::FoundApi& name : names) {
    FIELDCOST_ASSIGN(std::vector<stats::StatRow> rows, source.Find(name.symbol, name.soname));
    std::vector<report::CostSummary> some =
        source.Summarise(report::Select(std::move(rows), selection));
    std::move(some.begin(), some.end(), std::back_inserter(found.summaries));
  }
  return found;
}

std::string MoreText(const Found& found, std::uint64_t limit) {
  return found.more ? fmt::format("(the first {} names; more: --limit)\n", limit) : "";
}

// --limit 0 is all: of so many that another one makes no difference.
std::size_t LimitOf(std::uint64_t limit) {
  constexpr std::size_t kAll = 1U << 30;
  return limit == 0 || limit > kAll ? kAll : static_cast<std::size_t>(limit);
}

}  // namespace

Result<int> Run(const SearchCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  const catalog::SearchOptions options{.pattern = command.text,
                                       .library = command.library,
                                       .order = command.by_name
                                                    ? catalog::SearchOptions::Order::kName
                                                    : catalog::SearchOptions::Order::kTotal,
                                       .limit = LimitOf(command.limit)};
  FIELDCOST_ASSIGN(const Found found, Look(source, options, {}));
  if (found.summaries.empty()) {
    return Fail(ErrorCode::kNotFound, "no name matches '{}'{}", command.text,
                command.library.empty() ? "" : " in libraries " + command.library);
  }
  const auto text = [&] {
    return report::CostTable(found.summaries, output.style) +
           report::TableNote(found.summaries, output.style) + MoreText(found, command.limit);
  };
  FIELDCOST_TRY(PrintCosts(found.summaries, source.freshness(), output, CsvKind::kNumbers, text));
  return 0;
}

Result<int> Run(const SpectrumCommand& command, const Output& output) {
  for (const std::string& api : command.apis) FIELDCOST_TRY(CheckApiName(api));
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  Found found;
  for (const std::string& api : command.apis) {
    FIELDCOST_ASSIGN(std::vector<report::CostSummary> some,
                     FindApi(source, api, command.selection));
    std::move(some.begin(), some.end(), std::back_inserter(found.summaries));
  }
  if (!command.library.empty()) {
    FIELDCOST_ASSIGN(found,
                     Look(source, {.library = command.library, .limit = LimitOf(command.limit)},
                          command.selection));
  }
  if (found.summaries.empty()) {
    return Fail(ErrorCode::kNotFound, "no such measurements of libraries {}", command.library);
  }
  const auto text = [&] {
    return report::SpectrumTable(found.summaries, *command.selection.metric, output.style) +
           MoreText(found, command.limit);
  };
  FIELDCOST_TRY(PrintCosts(found.summaries, source.freshness(), output, CsvKind::kBuckets, text));
  return 0;
}

}  // namespace fieldcost::cli
