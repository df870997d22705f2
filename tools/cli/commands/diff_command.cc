// `fieldcost diff`: two versions of a library, two times on this machine, two lab tables.
#include "common/base/text.h"
#include "common/names/cxx_name.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/costs/lab_table_file.h"
#include "tools/cli/costs/library_versions.h"
#include "tools/cli/costs/report_json.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/lab/lab_answer.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/time_argument.h"
#include "tools/report/diff_page.h"
#include "tools/report/local_diff.h"
#include "tools/report/version_diff.h"

namespace fieldcost::cli {
namespace {

struct DiffRequest {
  std::string library;                  // soname, glob or part of it
  std::string before;                   // a version or its beginning; empty = the one before
  std::string after;                    // empty = newest
  std::string api;                      // glob over symbols; empty = all
  std::optional<stats::Metric> metric;  // only this one
  std::filesystem::path html;           // a page to write instead of text; empty = none
  bool all = false;                     // also APIs without a significant change
};

// `diff --local`: two times on this machine.
struct LocalRequest {
  std::string library;  // input of Source::LibraryGlob(), later its result
  std::string api;      // glob over symbols; empty = all
  stats::Metric metric = stats::Metric::kWallTime;
  bool all = false;
  std::string since;   // empty = since the beginning
  std::string before;  // end of the first time span, beginning of the second
};

using inference::Verdict;

struct Versions {
  std::string before;
  std::string after;
};

// By default the newest version and the one before it.
Result<Versions> ChooseVersions(const LibraryApis& library, const DiffRequest& command) {
  Versions chosen;
  if (!command.after.empty()) {
    FIELDCOST_ASSIGN(chosen.after, FindVersion(library, command.after));
  } else {
    chosen.after = library.versions.back().name;
  }
  if (!command.before.empty()) {
    FIELDCOST_ASSIGN(chosen.before, FindVersion(library, command.before));
  } else if (library.versions.size() >= 2) {
    chosen.before = library.versions[library.versions.size() - 2].name;
  } else {
    return Fail(ErrorCode::kNotFound, "the local catalogue has only one version of {}: {}",
                EscapeControl(library.soname), VersionsText(library));
  }
  if (chosen.before == chosen.after) {
    return Fail(ErrorCode::kInvalidArgument,
                "version {} of {} cannot be compared with itself; available: {}",
                EscapeControl(chosen.before), EscapeControl(library.soname), VersionsText(library));
  }
  return chosen;
}

int ExitStatusOf(const analysis::LibraryChange& change) {
  bool compared = false;
  for (const analysis::ApiChange& api : change.apis) {
    for (const analysis::MetricChange& metric : api.metrics) {
      if (metric.change == Verdict::kMore) return kIncrease;
      compared = compared || metric.change != Verdict::kTooLittleData;
    }
  }
  return compared ? kNoIncrease : kTooLittleData;
}

bool ApiIsMeant(const std::string& glob, const std::string& symbol) {
  return glob.empty() || GlobMatch(glob, symbol) || GlobMatch(glob, names::ShortName(symbol));
}

Result<int> RunDiff(const DiffRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const Source source, Source::Open(false));
  const catalog::Freshness& freshness = *source.freshness();
  FIELDCOST_ASSIGN(LibraryApis library, FindLibrary(source, command.library));
  FIELDCOST_TRY(ReadVersions(source, library));
  if (library.versions.empty()) {
    return Fail(ErrorCode::kNotFound, "the local catalogue has no data for {}",
                EscapeControl(library.soname));
  }
  FIELDCOST_ASSIGN(const Versions versions, ChooseVersions(library, command));
  analysis::LibraryComparison comparison(library.soname, versions.before, versions.after,
                                         command.metric);
  FIELDCOST_TRY(ForEachRowOf(source, library, [&](std::span<const stats::StatRow> rows) {
    if (rows.empty() || ApiIsMeant(command.api, rows.front().key.api.symbol)) {
      comparison.Add(rows);
    }
  }));
  const analysis::LibraryChange change = comparison.Finish();
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(DiffJson(change, freshness)));
  } else if (!command.html.empty()) {
    FIELDCOST_TRY(WritePage(command.html,
                            report::DiffPage(change, command.all, ProvenanceOf(source)),
                            PageOf::kPublished));
  } else if (output.csv) {
    FIELDCOST_TRY(WriteStdout(report::DiffCsv(change, ProvenanceOf(source))));
  } else {
    FIELDCOST_TRY(WritePaged(report::DiffText(change, command.all, output.style) +
                                 FreshnessText(freshness, SystemClock().Now()),
                             output));
  }
  return ExitStatusOf(change);
}

Result<std::vector<stats::StatRow>> RowsOf(const LocalRequest& command,
                                           const volunteer::TimeSpan& span) {
  FIELDCOST_ASSIGN(const Source source, Source::OpenLocal(span));
  std::vector<stats::StatRow> rows = source.local_rows();
  std::erase_if(rows, [&](const stats::StatRow& row) {
    const stats::ApiKey& api = row.key.api;
    return !GlobMatch(command.library, api.soname) || !ApiIsMeant(command.api, api.symbol);
  });
  return rows;
}

int ExitStatusOf(const std::vector<analysis::LocalChange>& changes) {
  if (changes.empty()) return kTooLittleData;
  // Changes are ordered by their kind, increases first.
  if (changes.front().change == Verdict::kMore) return kIncrease;
  return changes.front().change == Verdict::kTooLittleData ? kTooLittleData : kNoIncrease;
}

Result<int> RunLocal(LocalRequest command, const Output& output) {
  const WallTime now = SystemClock().Now();
  volunteer::TimeSpan before;
  volunteer::TimeSpan after;
  if (!command.since.empty()) {
    FIELDCOST_ASSIGN(before.from, ParsePastTime(command.since, now));
  }
  FIELDCOST_ASSIGN(after.from, ParsePastTime(command.before, now));
  before.before = after.from;
  if (before.from >= before.before) {
    return Fail(ErrorCode::kInvalidArgument, "diff: --since is not before --before");
  }
  FIELDCOST_ASSIGN(const Source all, Source::Open(true));
  FIELDCOST_ASSIGN(command.library, all.LibraryGlob(command.library));
  FIELDCOST_ASSIGN(const std::vector<stats::StatRow> old, RowsOf(command, before));
  FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, RowsOf(command, after));
  const auto changes = analysis::CompareLocal(old, rows, command.metric);
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(LocalDiffJson(changes, before, after)));
  } else if (output.csv) {
    FIELDCOST_TRY(WriteStdout(report::LocalDiffCsv(changes)));
  } else {
    FIELDCOST_TRY(WritePaged(report::LocalDiffText(changes, command.all, output.style), output));
  }
  return ExitStatusOf(changes);
}

// `diff BEFORE.lab AFTER.lab`.
Result<int> RunTables(const command::Arguments& arguments, std::optional<stats::Metric> metric) {
  if (arguments.Text("old").empty() || !arguments.Text("new").empty()) {
    return Fail(ErrorCode::kInvalidArgument, "diff compares two lab tables: BEFORE.lab AFTER.lab");
  }
  for (const char* other : {"--html", "--local"}) {
    if (!arguments.Has(other)) continue;
    return Fail(ErrorCode::kInvalidArgument, "{} cannot be combined with a diff of lab tables",
                other);
  }
  FIELDCOST_ASSIGN(const wire::LabTable before, ReadLabTable(arguments.Text("library")));
  FIELDCOST_ASSIGN(const wire::LabTable after, ReadLabTable(arguments.Text("old")));
  return PrintLabDiff(
      before, after,
      {.api = arguments.Text("--api"), .metric = metric, .all = arguments.Has("--all")},
      OutputOf(arguments));
}

Result<int> RunEither(const command::Arguments& arguments) {
  const auto metric = analysis::ParseMetric(arguments.Text("--metric"));
  if (arguments.Text("library").ends_with(wire::kLabTableSuffix)) {
    return RunTables(arguments, metric);
  }
  const bool has_time = !arguments.Text("--before").empty();
  if (arguments.Has("--local")) {
    if (arguments.Has("--html")) {
      return Fail(ErrorCode::kInvalidArgument, "--html cannot be combined with diff --local");
    }
    if (!has_time || !arguments.Text("old").empty()) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "diff --local compares what was measured before and after a time: use --before TIME");
    }
    return RunLocal({.library = arguments.Text("library"),
                     .api = arguments.Text("--api"),
                     .metric = metric.value_or(stats::Metric::kWallTime),
                     .all = arguments.Has("--all"),
                     .since = arguments.Text("--since"),
                     .before = arguments.Text("--before")},
                    OutputOf(arguments));
  }
  return RunDiff({.library = arguments.Text("library"),
                  .before = arguments.Text("old"),
                  .after = arguments.Text("new"),
                  .api = arguments.Text("--api"),
                  .metric = metric,
                  .html = arguments.Text("--html"),
                  .all = arguments.Has("--all")},
                 OutputOf(arguments));
}

}  // namespace

command::Command DiffCommand() {
  return {
      .name = "diff",
      .summary = "What has changed between two versions of a library",
      .help =
          R"(Compares machines within each hardware class that is published for both versions. NEW defaults to
the newest version, OLD to the one before it. Exit status 1: something is slower or takes more; 2:
too little data for any answer.
With --local it compares what this machine measured before and after a time, calls with calls. For
two lab tables (FILE.lab), compares times by runs, and calls and bytes per run exactly: any
difference is listed, an increase by 5 % or more is a regression (as in `measure --diff-base`).
Examples:
  fieldcost diff sqlite3
  fieldcost diff libsqlite3.so.0 3.40 3.45 --metric wall_time
  fieldcost diff libz.so.1 --html changes.html
  fieldcost diff libz.so.1 --all --csv > changes.csv
  fieldcost diff libz.so.1 --local --before 10m
  fieldcost diff before.lab after.lab)",
      .options = {{.names = "library",
                   .value = "LIBRARY",
                   .help = "Soname, part of one, or a glob; or a lab table, *.lab",
                   .completes = command::Completes::kLibrary,
                   .required = true},
                  {.names = "old",
                   .value = "OLD",
                   .help = "Version, or its prefix [the one before NEW]; or the newer lab table",
                   .completes = command::Completes::kVersion},
                  {.names = "new",
                   .value = "NEW",
                   .help = "Version, or its prefix [the newest]",
                   .completes = command::Completes::kVersion},
                  {.names = "--api", .value = "GLOB", .help = "Only these APIs (glob over names)"},
                  MetricOption("Only this metric"),
                  HtmlOption("Write an HTML page to FILE (- = stdout)"),
                  {.names = "--all", .help = "Include APIs without a significant change"},
                  LocalOption(),
                  {.names = "--before",
                   .value = "TIME",
                   .help = "With --local: the dividing time, 10m, 2h, 3d (ago), 2026-11-20, "
                           "2026-11-20T10:30 (UTC)",
                   .check = CheckTime,
                   .needs = {"--local"}},
                  SinceOption()},
      .handler = RunEither,
      .check = [](const command::Arguments& arguments) {
        return CheckPageOption(arguments, "--html");
      }};
}

}  // namespace fieldcost::cli
