// The commands that read: the catalogue, or this machine's own measurements.
#include "tools/analysis/selection.h"
#include "tools/cli/command_line_parser.h"

namespace fieldcost::cli {
namespace {

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  for (unsigned number = 1; number <= shm::kMaxMetric; ++number) {
    names.emplace_back(stats::Name(static_cast<stats::Metric>(number)));
  }
  return names;
}

void AddSelection(CLI::App& command, analysis::Selection& selection, const char* metric_about) {
  // Not by the name --version: that asks for the program's own.
  command.add_option("--of-version", selection.version, "Only this version of the library (glob)")
      ->type_name("VERSION");
  command
      .add_option("--class", selection.hardware_class,
                  "Only these hardware classes (glob), where\nthey are told apart")
      ->type_name("CLASS");
  command
      .add_option_function<std::string>(
          "--metric",
          [&](const std::string& name) { selection.metric = analysis::ParseMetric(name); },
          metric_about)
      ->check(CLI::IsMember(MetricNames()));
  command
      .add_option_function<std::string>(
          "--week", [&](const std::string& text) { selection.weeks = analysis::ParseWeeks(text); },
          "Only the week with this day, or weeks FROM..TO\n(2026-10-01..2026-11-19)")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return analysis::ParseWeeks(text) ? ""
                                              : "'" + text + "' is not a day, nor two: FROM..TO";
          },
          ""))
      ->type_name("WEEK");
}

}  // namespace

void Parser::AddCatalogue() {
  CLI::App* sync = Add(app_, "sync", "Refresh the local copy of the catalogue", help::kSync, sync_);
  sync->add_flag("--full", sync_.full, "Everything now, instead of today's share");
  sync->add_option("--api", sync_.api, "Also the part with this API at once")
      ->type_name("SONAME!SYMBOL");
  CLI::App* show = Add(app_, "show", "One API: quantiles, histogram, versions", help::kShow, show_);
  show->add_option("api", show_.api, "Symbol, or soname!symbol")->required()->type_name("API");
  show->add_flag("--local", show_.local, "This machine's own measurements");
  AddSelection(*show, show_.selection, "Only this metric");
  CLI::App* top = Add(app_, "top", "The cost table", help::kTop, top_);
  top->add_flag("--local", top_.local, "This machine's own measurements");
  top->add_option("--library", top_.library, "Only this library (glob)")->type_name("SONAME");
  top->add_option("--limit", top_.limit, "Lines at most; 0 = all")->capture_default_str();
  top->add_option("--sort", sort_, "calls, p50, p95, p99, mean or total (time)")
      ->check(CLI::IsMember({"calls", "p50", "p95", "p99", "mean", "total"}))
      ->capture_default_str();
}

void Parser::AddCheck() {
  CLI::App* check =
      Add(app_, "check", "Is my own profile worse than the field?", help::kCheck, check_);
  CLI::Option* profile =
      check
          ->add_option("profile", check_.profile,
                       "A saved profile, instead of this machine's own measurements")
          ->type_name("FILE");
  check->add_option("--metric", metric_, "What is compared")
      ->check(CLI::IsMember(MetricNames()))
      ->capture_default_str();
  CLI::Option* explain =
      check->add_option("--explain", check_.explain, "One API: both tests, both distributions")
          ->type_name("API");
  CLI::Option* tree = check
                          ->add_option("--tree", check_.tree,
                                       "Folded stacks or a pprof profile: its call\ntree, in which "
                                       "what is flagged stands out")
                          ->type_name("FILE")
                          ->excludes(explain);
  check->add_flag("--all", check_.all, "Name also what is normal or has too little data");
  check
      ->add_option("--seed", check_.seed, "Draw other permutations; the same number, the same ones")
      ->type_name("NUMBER");
  check
      ->add_option("--save", check_.save, "Write this machine's profile there, and compare nothing")
      ->type_name("FILE")
      ->excludes(profile)
      ->excludes(explain)
      ->excludes(tree);
}

void Parser::AddDiff() {
  CLI::App* diff =
      Add(app_, "diff", "What has changed between two versions of a library", help::kDiff, diff_);
  diff->add_option("library", diff_.library, "Soname, a part of it, or a glob")
      ->required()
      ->type_name("LIBRARY");
  diff->add_option("old", diff_.before, "Version, or how it begins [the one before NEW]")
      ->type_name("OLD");
  diff->add_option("new", diff_.after, "[the newest]")->type_name("NEW");
  diff->add_option("--api", diff_.api, "Only these APIs (glob over symbols)")->type_name("GLOB");
  diff->add_option("--metric", diff_metric_, "Only this metric")
      ->check(CLI::IsMember(MetricNames()));
  diff->add_flag("--all", diff_.all, "Also what is not shown to have changed");
}

void Parser::AddReport() {
  report_ = app_.add_subcommand("report", "Reports for those who make libraries")->fallthrough();
  report_->require_subcommand(0, 1);
  report_->footer(help::kReport);
  CLI::App* vendor = Add(*report_, "vendor", "Use, costs and changes of a library's APIs",
                         help::kReportVendor, vendor_);
  vendor->add_option("--library", vendor_.library, "Soname, a part of it, or a glob")
      ->required()
      ->type_name("LIBRARY");
  vendor->add_option("--by", group_by_, "Groups: libraries, name spaces or prefixes, or both")
      ->check(CLI::IsMember({"module", "namespace", "both"}))
      ->capture_default_str();
  vendor
      ->add_option("--baseline", vendor_.baseline,
                   "Changes since this version [the one before the newest]")
      ->type_name("VERSION");
  vendor->add_option("--output", vendor_.output, "Write it there (- = stdout)")->type_name("FILE");
  vendor->add_option("--format", report_format_, "[by the file's name, else text]")
      ->check(CLI::IsMember({"html", "csv", "json", "text"}));
}

void Parser::AddLookUps() {
  CLI::App* hist = Add(app_, "hist", "One API's histogram", help::kHist, hist_);
  hist->add_option("api", hist_.api, "Symbol, or soname!symbol")->required()->type_name("API");
  hist->add_flag("--local", hist_.local, "This machine's own measurements");
  AddSelection(*hist, hist_.selection, "Of this metric [wall_time]");
  CLI::App* spectrum = Add(app_, "spectrum", "APIs' costs as colours, one below the other",
                           help::kSpectrum, spectrum_);
  CLI::Option* apis =
      spectrum->add_option("api", spectrum_.apis, "Symbol, or soname!symbol")->type_name("API");
  spectrum->add_option("--library", spectrum_.library, "The dearest of this library (glob)")
      ->type_name("SONAME")
      ->excludes(apis);
  spectrum->add_option("--limit", spectrum_.limit, "So many of it; 0 = all")->capture_default_str();
  spectrum->add_flag("--local", spectrum_.local, "This machine's own measurements");
  AddSelection(*spectrum, spectrum_.selection, "Of this metric [wall_time]");
  CLI::App* search =
      Add(app_, "search", "Find APIs by a part of their names", help::kSearch, search_);
  search->add_option("text", search_.text, "Part of a symbol, or a glob (* ?)")
      ->required()
      ->type_name("TEXT");
  search->add_option("--library", search_.library, "Only this library (glob)")->type_name("SONAME");
  search->add_option("--limit", search_.limit, "Names at most; 0 = all")->capture_default_str();
  search->add_option("--sort", search_sort_, "total (time of all calls), or name")
      ->check(CLI::IsMember({"total", "name"}))
      ->capture_default_str();
  search->add_flag("--local", search_.local, "This machine's own measurements");
}

void Parser::AddDocs() {
  docs_ = app_.add_subcommand("docs", "Cost cards for documentation")->fallthrough();
  docs_->require_subcommand(0, 1);
  docs_->footer(help::kDocs);
  const auto add_common = [](CLI::App& app, std::string& library, std::string& url) {
    app.add_option("--library", library, "Only this library (glob)")->type_name("SONAME");
    app.add_option("--url", url, "Link to the page of an API")->type_name("TEMPLATE");
  };
  CLI::App* cards =
      Add(*docs_, "cards", "A card for each API, as files", help::kDocsCards, docs_cards_);
  cards->add_option("--output", docs_cards_.output, "Directory to write to; made if absent")
      ->required()
      ->type_name("DIRECTORY");
  add_common(*cards, docs_cards_.library, docs_cards_.url);
  CLI::App* doxygen = Add(*docs_, "doxygen", "Put cards into pages that Doxygen wrote",
                          help::kDocsDoxygen, docs_doxygen_);
  doxygen->add_option("html", docs_doxygen_.html_directory, "Where the pages are")
      ->required()
      ->type_name("DIRECTORY");
  doxygen->add_option("--tag-file", docs_doxygen_.tag_file, "Doxygen's tag file of these pages")
      ->required()
      ->type_name("FILE");
  add_common(*doxygen, docs_doxygen_.library, docs_doxygen_.url);
  CLI::App* man = Add(app_, "man", "A function's manual page, with its cost", help::kMan, man_);
  man->add_option("api", man_.api, "Symbol, or soname!symbol")->required()->type_name("API");
  man->add_option("--section", man_.section, "Of the manual, such as 3 [3, else 2]")
      ->type_name("SECTION");
  man->add_option("--url", man_.url, "Link to the page of an API")->type_name("TEMPLATE");
  man->add_flag("--roff", man_.roff, "Print the page's source instead of showing it");
}

}  // namespace fieldcost::cli
