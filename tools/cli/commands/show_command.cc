// `fieldcost show` and `hist`: one API in detail.
#include <algorithm>
#include <span>

#include "agent/settings/cache_directory.h"
#include "common/base/percent_encode.h"
#include "common/base/text.h"
#include "tools/analysis/api_cost.h"
#include "tools/analysis/lab_cost.h"
#include "tools/analysis/version_order.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/costs/find_api.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/docs/cached_pages.h"
#include "tools/cli/lab/lab_json.h"
#include "tools/cli/terminal/browser.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/cards/cost_card.h"
#include "tools/report/cards/heat_page.h"
#include "tools/report/cost_detail.h"
#include "tools/report/lab/lab_page.h"
#include "tools/report/lab/table_text.h"

namespace fieldcost::cli {
namespace {

using Detail = std::string(const analysis::CostSummary& summary, const draw::Style& style);

struct ShowRequest {
  std::string api;  // "symbol" or "soname!symbol"
  SourceChoice source;
  bool all = false;            // all versions; false: as text, only the installed or newest one
  bool with_shapes = false;    // for a lab table
  std::filesystem::path html;  // a page to write instead of text; empty = none
  bool open = false;           // the page in the browser; without `html`, in the cache directory
  analysis::Selection selection;
};

// Explains why the first version is shown, and which others are not.
std::string OthersText(const analysis::ApiCost& cost, std::size_t shown) {
  if (shown >= cost.versions.size()) return "";
  std::string text =
      fmt::format("{} is {}; other versions (--all, or --of-version):",
                  EscapeControl(analysis::VersionOf(cost.shown().api)),
                  cost.is_installed ? "the version installed here" : "the newest version");
  for (const analysis::CostSummary& version : std::span(cost.versions).subspan(shown)) {
    text += " " + EscapeControl(analysis::VersionOf(version.api));
  }
  return text + "\n\n";
}

// The data of a lab table besides its rows; empty without a table.
class LabShapes {
 public:
  explicit LabShapes(const std::optional<wire::LabTable>& table) {
    if (table) costs_ = analysis::LabCosts(*table);
  }

  std::string TextOf(const stats::ApiKey& api, const draw::Style& style) const {
    const auto place = std::ranges::find(costs_, api, KeyOf);
    return place == costs_.end() ? "" : report::ShapeText(*place, style) + "\n";
  }

  // Uses the metrics of the summaries.
  std::vector<analysis::LabCost> Of(std::span<const analysis::CostSummary> summaries) const {
    std::vector<analysis::LabCost> found;
    for (const analysis::CostSummary& summary : summaries) {
      const auto place = std::ranges::find(costs_, summary.api, KeyOf);
      if (place == costs_.end()) continue;
      found.push_back(*place);
      found.back().summary = summary;
    }
    return found;
  }

 private:
  static const stats::ApiKey& KeyOf(const analysis::LabCost& cost) { return cost.summary.api; }
  std::vector<analysis::LabCost> costs_;
};

// Writes a lab table as a page: all of it, or one API and the APIs on the same stacks.
Status WriteLabPage(const ShowRequest& command, const Source& source) {
  report::LabPageContent content = report::LabPageContentOf(*source.table(), !command.api.empty());
  if (!command.api.empty()) {
    FIELDCOST_ASSIGN(const std::vector<analysis::CostSummary> summaries,
                     FindApi(source, command.api, command.selection));
    const auto is_meant = [&](const stats::ApiKey& api) {
      return std::ranges::find(summaries, api, &analysis::CostSummary::api) != summaries.end();
    };
    std::erase_if(content.costs, [&](const auto& cost) { return !is_meant(cost.summary.api); });
    std::erase_if(content.pairs, [&](const auto& pair) {
      return !is_meant(pair.first) && !is_meant(pair.second);
    });
  }
  return WritePage(command.html, report::LabPage(content), PageOf::kOwn);
}

std::filesystem::path Whole(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::absolute(file, ignored).lexically_normal();
}

// Opens a page that was written to the cache directory.
Status Open(const std::filesystem::path& file) {
  FIELDCOST_TRY(WriteStdout(FileUrl(file.string()) + "\n"));
  return OpenInBrowser(file);
}

// `show` and `hist` differ only in the details per API.
Result<int> ShowEach(const ShowRequest& command, const Output& output, CsvKind csv,
                     Detail* detail) {
  if (!command.api.empty()) FIELDCOST_TRY(CheckApiName(command.api));
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.source));
  if (!command.html.empty() && source.table()) {
    FIELDCOST_TRY(WriteLabPage(command, source));
    if (command.open) FIELDCOST_TRY(OpenInBrowser(Whole(command.html)));
    return 0;
  }
  if (command.api.empty()) {
    FIELDCOST_ASSIGN(const auto file, WriteOverview(settings::CacheDirectory(), source));
    FIELDCOST_TRY(Open(file));
    return 0;
  }
  FIELDCOST_ASSIGN(const std::vector<analysis::CostSummary> summaries,
                   FindApi(source, command.api, command.selection));
  if (!command.html.empty()) {
    const auto cards = report::CardsOf(summaries, ProvenanceOf(source));
    FIELDCOST_TRY(WritePage(command.html, report::HeatPage(cards),
                            source.freshness() ? PageOf::kPublished : PageOf::kOwn));
    if (command.open) FIELDCOST_TRY(OpenInBrowser(Whole(command.html)));
    return 0;
  }
  if (command.open) {
    FIELDCOST_ASSIGN(const auto file,
                     WriteCachedPage(settings::CacheDirectory(), source, summaries));
    FIELDCOST_TRY(Open(file));
    return 0;
  }
  const LabShapes shapes(command.with_shapes ? source.table() : std::nullopt);
  if (command.with_shapes && source.table() && output.json) {
    FIELDCOST_TRY(WriteStdout(LabJson(shapes.Of(summaries), source.table()->parts)));
    return 0;
  }
  const auto text = [&] {
    std::string all;
    for (const analysis::ApiCost& cost :
         CostsOf(summaries, analysis::Versions::kJoined, analysis::AskPackageManager())) {
      const std::size_t shown = command.all ? cost.versions.size() : 1;
      for (std::size_t i = 0; i < shown; ++i) {
        all += detail(cost.versions[i], output.style) + "\n";
        all += shapes.TextOf(cost.versions[i].api, output.style);
      }
      all += OthersText(cost, shown);
    }
    return all;
  };
  FIELDCOST_TRY(PrintCosts(summaries, source, output, csv, text));
  return 0;
}

Status CheckOpen(const command::Arguments& arguments) {
  if (!arguments.Has("--open")) return {};
  FIELDCOST_TRY(CheckPageOption(arguments, "--open"));
  if (arguments.Text("--html") == "-") {
    return Fail(ErrorCode::kInvalidArgument, "--open needs a file: --html FILE, or no --html");
  }
  if (arguments.Has("--table") && !arguments.Has("--html")) {
    return Fail(ErrorCode::kInvalidArgument, "--open with --table needs --html FILE");
  }
  if (arguments.Has("api") || arguments.Has("--table")) return {};
  for (const char* const other : {"--local", "--html"}) {
    if (!arguments.Has(other)) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "--open with {} needs an API (a page of all your own costs: fieldcost agent view "
                "--open)",
                other);
  }
  return {};
}

ShowRequest RequestOf(const command::Arguments& arguments) {
  return {.api = arguments.Text("api"),
          .source = SourceOf(arguments),
          .all = arguments.Has("--all") || arguments.Has("--of-version"),
          .selection = SelectionOf(arguments)};
}

}  // namespace

command::Command ShowCommand() {
  command::Command show{
      .name = "show",
      .summary = "One API: quantiles, histogram, versions",
      .help =
          R"(Shows the version that is installed here, otherwise the newest: time and allocation in full, other
metrics in one line each. With --all, every version and metric in full, with --metric one metric. --json and --csv have everything. C++
names may be written as in source code; overloads are shown together.
Examples:
  fieldcost show sqlite3_step
  fieldcost show sqlite3_step --all
  fieldcost show sqlite3_step --of-version '3.40*' --metric wall_time
  fieldcost show sqlite3_step --csv > step.csv
  fieldcost show sqlite3_step --html step.html
  fieldcost show sqlite3_step --open
  fieldcost show --open
  fieldcost show --table all.lab --html all.html
  fieldcost show 'libsqlite3.so.0!sqlite3_step' --json
  fieldcost show Json::Reader::parse)",
      .options = {ApiOperand(),
                  LocalOption(),
                  TableOption(),
                  {.names = "--all", .help = "Show every version and metric in full"},
                  {.names = "--open",
                   .help =
                       "Open the page in the browser ($BROWSER, otherwise xdg-open); without an "
                       "API, pages of the most expensive ones"},
                  HtmlOption("Write an HTML page to FILE (- = stdout): a heat map of versions and "
                             "costs; of a lab table the whole table, or that API")},
      .handler =
          [](const command::Arguments& arguments) {
            ShowRequest request = RequestOf(arguments);
            request.html = arguments.Text("--html");
            request.open = arguments.Has("--open");
            request.with_shapes = true;
            const bool in_full = arguments.Has("--all") || request.selection.metric.has_value();
            return ShowEach(request, OutputOf(arguments), CsvKind::kNumbers,
                            in_full ? report::CostDetail : report::CostBrief);
          },
      .check = [](const command::Arguments& arguments) -> Status {
        FIELDCOST_TRY(CheckOpen(arguments));
        const bool is_whole_table = arguments.Has("--table") && arguments.Has("--html");
        if (!arguments.Has("api") && !is_whole_table && !arguments.Has("--open")) {
          return Fail(ErrorCode::kInvalidArgument, "show needs an API, or --table with --html");
        }
        return CheckPageOption(arguments, "--html");
      }};
  show.options[0].required = false;
  AddSelection("Only this metric", "", show);
  return show;
}

command::Command HistCommand() {
  command::Command hist{.name = "hist",
                        .summary = "One API's histogram",
                        .help = R"(Examples:
  fieldcost hist sqlite3_step
  fieldcost hist malloc --metric alloc_inclusive --csv)",
                        .options = {ApiOperand(),
                                    LocalOption(),
                                    TableOption(),
                                    {.names = "--all", .help = "Show every version"}},
                        .handler = [](const command::Arguments& arguments) {
                          ShowRequest request = RequestOf(arguments);
                          return ShowEach(request, OutputOf(arguments), CsvKind::kBuckets,
                                          report::HistogramDetail);
                        }};
  AddSelection("Metric to show", kDefaultMetric, hist);
  return hist;
}

}  // namespace fieldcost::cli
