// `fieldcost search` and `spectrum`: list APIs by name or library, as a table or as colours.
#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "common/base/text.h"
#include "tools/analysis/api_cost.h"
#include "tools/analysis/waiting.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/costs/find_api.h"
#include "tools/cli/costs/source.h"
#include "tools/report/cost_table.h"

namespace fieldcost::cli {
namespace {

struct SearchRequest {
  std::string text;     // see catalog::NamePattern
  std::string library;  // input of Source::LibraryGlob()
  std::uint64_t limit = 0;
  bool by_name = false;  // false: by total cost
  bool waiting = false;  // also functions that only wait
  analysis::Versions versions = analysis::Versions::kJoined;
  SourceChoice source;
};

struct SpectrumRequest {
  std::vector<std::string> apis;  // if empty, ...
  std::string library;            // ... those of this library (glob) with the highest costs
  std::uint64_t limit = 0;        // on these; 0 = all
  bool waiting = false;           // also functions that only wait
  SourceChoice source;
  analysis::Selection selection;  // with a single metric
};

struct Found {
  std::vector<analysis::CostSummary> summaries;
  bool more = false;                       // there are more than the limit
  std::set<std::string> waiting;           // symbols omitted because they only wait
  std::vector<stats::RowKey> passed_over;  // what exists, if the selection is empty
};

// Finds matching names. Where costs are ranked, omits functions that only wait unless nothing else
// matches.
Result<std::vector<catalog::FoundApi>> FindNames(const Source& source,
                                                 catalog::SearchOptions options, bool with_waiting,
                                                 std::set<std::string>& waiting) {
  if (with_waiting || options.order == catalog::SearchOptions::Order::kName) {
    return source.Search(options);
  }
  options.leave_out = [&waiting](const catalog::FoundApi& api) {
    const bool waits = analysis::IsWaiting({.soname = api.soname, .symbol = api.symbol});
    if (waits) waiting.insert(api.symbol);
    return waits;
  };
  FIELDCOST_ASSIGN(std::vector<catalog::FoundApi> names, source.Search(options));
  if (!names.empty() || waiting.empty()) return names;
  waiting.clear();
  options.leave_out = nullptr;
  return source.Search(options);
}

// The summaries of APIs whose names match, in the same order.
Result<Found> Look(const Source& source, catalog::SearchOptions options, bool with_waiting,
                   const analysis::Selection& selection) {
  const std::size_t limit = options.limit;
  ++options.limit;  // reads one more to see whether there are more
  Found found;
  FIELDCOST_ASSIGN(std::vector<catalog::FoundApi> names,
                   FindNames(source, std::move(options), with_waiting, found.waiting));
  found.more = names.size() > limit;
  if (found.more) names.resize(limit);
  for (const catalog::FoundApi& name : names) {
    FIELDCOST_ASSIGN(std::vector<stats::StatRow> rows, source.Find(name.symbol, name.soname));
    if (found.summaries.empty()) {
      for (const stats::StatRow& row : rows) found.passed_over.push_back(row.key);
    }
    std::vector<analysis::CostSummary> some =
        source.Summarise(analysis::Select(std::move(rows), selection));
    std::move(some.begin(), some.end(), std::back_inserter(found.summaries));
  }
  return found;
}

// Groups versions by API; the order of APIs stays.
std::vector<analysis::ApiCost> InOrder(std::span<const analysis::CostSummary> summaries,
                                       analysis::Versions versions) {
  std::vector<analysis::ApiCost> costs;
  while (!summaries.empty()) {
    const auto other = std::ranges::find_if(summaries, [&](const analysis::CostSummary& summary) {
      return summary.api.soname != summaries[0].api.soname ||
             summary.api.symbol != summaries[0].api.symbol;
    });
    std::vector<analysis::ApiCost> some =
        CostsOf({summaries.begin(), other}, versions, analysis::AskPackageManager());
    std::ranges::move(some, std::back_inserter(costs));
    summaries = {other, summaries.end()};
  }
  return costs;
}

std::string MoreText(const Found& found, std::uint64_t limit) {
  const std::string more =
      found.more ? fmt::format("(the first {}; more: --limit)\n", Counted(limit, "name")) : "";
  return more + WaitingNote(found.waiting);
}

// --limit 0 means all: a number so large that adding one does not matter.
std::size_t LimitOf(std::uint64_t limit) {
  constexpr std::size_t kAll = 1U << 30;
  return limit == 0 || limit > kAll ? kAll : static_cast<std::size_t>(limit);
}

Result<int> Search(const SearchRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.source));
  FIELDCOST_ASSIGN(const std::string library, source.LibraryGlob(command.library));
  const catalog::SearchOptions options{.pattern = command.text,
                                       .library = library,
                                       .order = command.by_name
                                                    ? catalog::SearchOptions::Order::kName
                                                    : catalog::SearchOptions::Order::kTotal,
                                       .limit = LimitOf(command.limit)};
  FIELDCOST_ASSIGN(const Found found, Look(source, options, command.waiting, {}));
  if (found.summaries.empty()) {
    return Fail(ErrorCode::kNotFound, "no name matches '{}'{}", command.text,
                command.library.empty() ? "" : " in libraries " + command.library);
  }
  const auto text = [&] {
    const std::vector<analysis::ApiCost> costs = InOrder(found.summaries, command.versions);
    return report::CostTable(costs, std::nullopt, output.style) +
           report::TableNote(costs, output.style) + MoreText(found, command.limit);
  };
  FIELDCOST_TRY(PrintCosts(found.summaries, source, output, CsvKind::kNumbers, text));
  return 0;
}

Result<int> Spectrum(const SpectrumRequest& command, const Output& output) {
  for (const std::string& api : command.apis) FIELDCOST_TRY(CheckApiName(api));
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.source));
  Found found;
  for (const std::string& api : command.apis) {
    FIELDCOST_ASSIGN(std::vector<analysis::CostSummary> some,
                     FindApi(source, api, command.selection));
    std::move(some.begin(), some.end(), std::back_inserter(found.summaries));
  }
  if (!command.library.empty()) {
    FIELDCOST_ASSIGN(const std::string library, source.LibraryGlob(command.library));
    FIELDCOST_ASSIGN(found, Look(source, {.library = library, .limit = LimitOf(command.limit)},
                                 command.waiting, command.selection));
  }
  if (found.summaries.empty()) {
    return Fail(ErrorCode::kNotFound, "{}",
                analysis::MissingText(command.library, found.passed_over, command.selection));
  }
  const auto text = [&] {
    return report::SpectrumTable(found.summaries, *command.selection.metric, output.style) +
           MoreText(found, command.limit);
  };
  FIELDCOST_TRY(PrintCosts(found.summaries, source, output, CsvKind::kBuckets, text));
  return 0;
}

}  // namespace

command::Command SearchCommand() {
  return {.name = "search",
          .summary = "Find APIs by part of their name",
          .help =
              R"(Case is ignored; LIBRARY!NAME limits the search to a library. Examples:
  fieldcost search prepare
  fieldcost search 'sqlite3_*_v2' --sort name --limit 0
  fieldcost search 'libz!flate' --csv)",
          .options = {{.names = "text",
                       .value = "TEXT",
                       .help = "Part of a name, or a glob (* ?)",
                       .required = true},
                      LibraryOption(),
                      LimitOption("At most N names; 0 = all"),
                      {.names = "--sort",
                       .value = "KEY",
                       .help = "Sort by total (time of all calls), or name",
                       .default_text = "total",
                       .choices = {"total", "name"}},
                      VersionsOption(),
                      WaitingOption(),
                      LocalOption(),
                      TableOption()},
          .handler = [](const command::Arguments& arguments) {
            return Search({.text = arguments.Text("text"),
                           .library = arguments.Text("--library"),
                           .limit = *arguments.Number("--limit"),
                           .by_name = arguments.Text("--sort") == "name",
                           .waiting = arguments.Has("--waiting"),
                           .versions = VersionsOf(arguments),
                           .source = SourceOf(arguments)},
                          OutputOf(arguments));
          }};
}

command::Command SpectrumCommand() {
  command::Command spectrum{
      .name = "spectrum",
      .summary = "APIs' costs as colours, one below the other",
      .help =
          R"(All lines share one scale, from cheap (left, dark blue) to expensive (right, yellow); height shows
how often. Examples:
  fieldcost spectrum deflate inflate crc32
  fieldcost spectrum --library libz.so.1 --limit 40)",
      .options = {{.names = "api",
                   .value = "API",
                   .help = "Symbol, or soname!symbol",
                   .completes = command::Completes::kSymbol,
                   .repeats = true},
                  {.names = "--library",
                   .value = "SONAME",
                   .help =
                       "The most expensive APIs of this library: soname, part of one, or a glob",
                   .completes = command::Completes::kLibrary,
                   .excludes = {"api"}},
                  LimitOption("At most N APIs; 0 = all"),
                  WaitingOption(),
                  LocalOption(),
                  TableOption()},
      .handler =
          [](const command::Arguments& arguments) {
            const SpectrumRequest request{.apis = arguments.Texts("api"),
                                          .library = arguments.Text("--library"),
                                          .limit = *arguments.Number("--limit"),
                                          .waiting = arguments.Has("--waiting"),
                                          .source = SourceOf(arguments),
                                          .selection = SelectionOf(arguments)};
            return Spectrum(request, OutputOf(arguments));
          },
      .check = [](const command::Arguments& arguments) -> Status {
        if (arguments.Has("api") || arguments.Has("--library")) return {};
        return Fail(ErrorCode::kInvalidArgument, "spectrum needs an API, or --library");
      }};
  AddSelection("Metric to show", kDefaultMetric, spectrum);
  return spectrum;
}

}  // namespace fieldcost::cli
