// `fieldcost report vendor`: a report for library authors.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/costs/header_names.h"
#include "tools/cli/costs/library_versions.h"
#include "tools/cli/costs/report_json.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/freshness_text.h"
#include "tools/report/lab/table_text.h"
#include "tools/report/vendor_csv.h"
#include "tools/report/vendor_page.h"
#include "tools/report/vendor_text.h"

namespace fieldcost::cli {
namespace {

struct ReportRequest {
  std::string library;          // soname, glob or part of it
  std::filesystem::path table;  // empty = the catalogue
  analysis::GroupBy by = analysis::GroupBy::kModule;
  std::filesystem::path headers;  // a directory or a file; for kHeader
  bool groups = false;            // the CSV lists groups instead of APIs
  std::string baseline;           // a version or its beginning; empty = the one before the newest
  std::filesystem::path html;     // empty = no page
};

Status CheckVendor(const command::Arguments& arguments) {
  std::filesystem::path page = arguments.Text("--html");
  if (page.extension() == ".pdf") {
    return Fail(ErrorCode::kInvalidArgument,
                "report writes no PDF: write a page (--html {}) and print it from a browser",
                page.replace_extension(".html").string());
  }
  const bool by_header = arguments.Text("--by") == "header";
  if (by_header != arguments.Has("--headers")) {
    return Fail(ErrorCode::kInvalidArgument,
                "--by header and --headers need each other: --by header --headers DIR");
  }
  return CheckPageOption(arguments, "--html");
}

// Selects the versions between which changes are measured. If several libraries are reported, some
// may not have the baseline; these are not compared.
Result<analysis::VendorLibrary> Describe(const LibraryApis& library, const std::string& baseline,
                                         bool only_one) {
  analysis::VendorLibrary described{
      .soname = library.soname, .versions = {}, .before = "", .after = ""};
  for (const LibraryVersion& version : library.versions) {
    described.versions.push_back(version.name);
  }
  if (described.versions.empty()) return described;
  described.after = described.versions.back();
  if (baseline.empty()) {
    const std::size_t count = described.versions.size();
    if (count >= 2) described.before = described.versions[count - 2];
    return described;
  }
  Result<std::string> found = FindVersion(library, baseline);
  if (!found && (only_one || found.error().code != ErrorCode::kNotFound)) {
    return Error(std::move(found).error());
  }
  if (found) described.before = *found;
  if (described.before == described.after) {
    if (only_one) {
      return Fail(ErrorCode::kInvalidArgument,
                  "{} is the newest version of {}; choose an older one as the baseline: {}",
                  EscapeControl(described.before), EscapeControl(library.soname),
                  VersionsText(library));
    }
    described.before.clear();
  }
  return described;
}

Result<analysis::VendorReport> MakeReport(const Source& source, const ReportRequest& command) {
  analysis::HeaderOf headers;
  if (command.by == analysis::GroupBy::kHeader) {
    FIELDCOST_ASSIGN(headers, ReadHeaders(command.headers));
  }
  FIELDCOST_ASSIGN(std::vector<LibraryApis> libraries, FindLibraries(source, command.library));
  const bool only_one = libraries.size() == 1;
  analysis::VendorReportBuilder builder(only_one ? libraries[0].soname : command.library,
                                        command.by, source.whose());
  bool has_baseline = command.baseline.empty();
  for (LibraryApis& library : libraries) {
    FIELDCOST_TRY(ReadVersions(source, library));
    FIELDCOST_ASSIGN(analysis::VendorLibrary described,
                     Describe(library, command.baseline, only_one));
    has_baseline = has_baseline || !described.before.empty();
    builder.Begin(std::move(described));
    FIELDCOST_TRY(ForEachRowOf(source, library,
                               [&](std::span<const stats::StatRow> rows) { builder.Add(rows); }));
  }
  if (!has_baseline) {
    return Fail(ErrorCode::kNotFound, "no library of {} has an older version {}",
                EscapeControl(command.library), EscapeControl(command.baseline));
  }
  return builder.Finish(headers);
}

std::vector<report::CostPageContent::Fact> FactsOf(const wire::LabTable& table) {
  std::vector<report::CostPageContent::Fact> facts;
  for (const wire::LabPart& part : table.parts) {
    facts.push_back({"Measured", fmt::format("{}: {}", part.name, Counted(part.runs, "run"))});
  }
  return facts;
}

std::vector<report::CostPageContent::Fact> FactsOf(const catalog::Freshness& freshness,
                                                   const report::Provenance& provenance) {
  return {{"Catalogue", report::SnapshotWords(provenance)},
          {"Valid until", draw::FormatTime(freshness.snapshot_expires)},
          {"Complete", fmt::format("{} of {} fragments current", freshness.fragments_current,
                                   freshness.fragments_total)},
          {"Privacy", fmt::format("nothing with fewer than {} contributions is published",
                                  freshness.contribution_threshold)}};
}

std::string MakePage(const analysis::VendorReport& made, const Source& source) {
  const auto& freshness = source.freshness();
  return report::VendorPage(
      {.report = &made,
       .facts = freshness ? FactsOf(*freshness, ProvenanceOf(source)) : FactsOf(*source.table()),
       .synthetic = freshness && freshness->synthetic});
}

// The note below a text that states its source.
std::string NoteOf(const Source& source, const Output& output) {
  return source.freshness() ? FreshnessText(*source.freshness(), SystemClock().Now())
                            : report::LabNote(source.table()->parts, {}, output.style);
}

Result<int> RunReport(const ReportRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const Source source, Source::Open({.local = false, .table = command.table}));
  FIELDCOST_TRY(source.CheckComplete());
  FIELDCOST_ASSIGN(const analysis::VendorReport made, MakeReport(source, command));
  if (!command.html.empty()) {
    FIELDCOST_TRY(WritePage(command.html, MakePage(made, source), PageOf::kPublished));
  } else if (output.json) {
    FIELDCOST_TRY(WriteStdout(VendorJson(made, source.freshness())));
  } else if (output.csv) {
    const report::Provenance provenance = ProvenanceOf(source);
    FIELDCOST_TRY(WriteStdout(command.groups ? report::VendorGroupCsv(made, provenance)
                                             : report::VendorCsv(made, provenance)));
  } else {
    FIELDCOST_TRY(
        WritePaged(report::VendorText(made, output.style) + NoteOf(source, output), output));
  }
  return 0;
}

// REQUIRES: it is one of the names.
analysis::GroupBy GroupByOf(std::string_view name) {
  const auto found = std::ranges::find(analysis::kGroupByNames, name);
  return static_cast<analysis::GroupBy>(found - analysis::kGroupByNames.begin());
}

command::Command VendorCommand() {
  return {
      .name = "vendor",
      .summary = "Use, costs and changes of a library's APIs, for library authors",
      .help =
          R"(Uses only the local catalogue, or a lab table (fieldcost measure --save); the same catalogue gives
the same bytes (except the age, in text). Examples:
  fieldcost report vendor --library sqlite3
  fieldcost report vendor --library 'libboost_*' --by both --html boost.html
  fieldcost report vendor --library libz.so.1 --by prefix --csv --groups
  fieldcost report vendor --library libz.so.1 --by header --headers zlib.h
  fieldcost report vendor --library libz.so.1 --baseline 1:1.2.11 --csv
  fieldcost report vendor --library sqlite3 --table a.lab)",
      .options = {{.names = "--library",
                   .value = "LIBRARY",
                   .help = "Soname, part of one, or a glob",
                   .completes = command::Completes::kLibrary,
                   .required = true},
                  {.names = "--by",
                   .value = "GROUP",
                   .help = "Groups: libraries, namespaces, both, prefixes of C names, or headers",
                   .default_text = "module",
                   .choices = {analysis::kGroupByNames.begin(), analysis::kGroupByNames.end()}},
                  {.names = "--headers",
                   .value = "PATH",
                   .help = "A header, or the directory of the headers, that declares the functions",
                   .completes = command::Completes::kFiles},
                  {.names = "--groups",
                   .help = "One record per group, not per API",
                   .needs = {"--csv"}},
                  {.names = "--baseline",
                   .value = "VERSION",
                   .help = "Changes since this version [the one before the newest]",
                   .completes = command::Completes::kVersion},
                  HtmlOption("Write an HTML page to FILE (- = stdout) instead of the text"),
                  TableOption({})},
      .handler =
          [](const command::Arguments& arguments) {
            return RunReport({.library = arguments.Text("--library"),
                              .table = arguments.Text("--table"),
                              .by = GroupByOf(arguments.Text("--by")),
                              .headers = arguments.Text("--headers"),
                              .groups = arguments.Has("--groups"),
                              .baseline = arguments.Text("--baseline"),
                              .html = arguments.Text("--html")},
                             OutputOf(arguments));
          },
      .check = CheckVendor};
}

}  // namespace

command::Command ReportCommand() {
  return {.name = "report",
          .summary = "Reports for library authors",
          .help = "Example:\n  fieldcost report vendor --library libz.so.1 --html zlib.html",
          .commands = {VendorCommand()}};
}

}  // namespace fieldcost::cli
