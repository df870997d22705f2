#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/settings/consent.h"
#include "common/draw/terminal.h"
#include "tools/analysis/selection.h"
#include "tools/analysis/summary.h"
#include "tools/analysis/vendor_report.h"

namespace fieldcost::cli {

// What the user asked for, parsed and checked as far as that needs no file. One struct a command.

struct AgentModeCommand {
  agent::Mode mode = agent::Mode::kOff;
};
struct AgentStatusCommand {
  bool programs = false;  // also names
};
struct AgentExplainCommand {
  std::string subject;  // a program, or the number of a process
};
enum class SessionAction { kOn, kOff, kStatus };
struct AgentSessionCommand {
  SessionAction action = SessionAction::kStatus;
};
struct AgentPreviewCommand {
  bool raw = false;
};
struct AgentLogCommand {
  std::optional<std::uint64_t> id;  // of one batch; else all
  bool raw = false;                 // its exact bytes; only with an id
};
struct AgentViewCommand {
  std::filesystem::path output;  // empty = in the state directory
  bool open = false;             // in the user's browser
};
struct AgentForgetCommand {
  bool yes = false;  // do not ask
};
struct AgentEnrolCommand {
  std::string token_file;  // "-" = stdin
};
struct RunCommand {
  std::string pick;     // globs "soname!symbol", comma-separated; empty = the random draw
  std::string metrics;  // some of "time,alloc,io,cycles"; empty = the library's default
  std::vector<std::string> arguments;  // the program and its arguments; never empty
};
struct SyncCommand {
  bool full = false;
  std::string api;  // "soname!symbol" or empty
};
struct ShowCommand {
  std::string api;  // "symbol" or "soname!symbol"
  bool local = false;
  analysis::Selection selection;
};
struct HistCommand {
  std::string api;
  bool local = false;
  analysis::Selection selection;  // always of one metric
};
struct SpectrumCommand {
  std::vector<std::string> apis;  // or else ...
  std::string library;            // ... the dearest of these (glob)
  std::uint64_t limit = 20;       // of them; 0 = all
  bool local = false;
  analysis::Selection selection;  // always of one metric
};
struct SearchCommand {
  std::string text;     // see catalog::NamePattern
  std::string library;  // glob over sonames; empty = all
  std::uint64_t limit = 20;
  bool by_name = false;  // else by total cost
  bool local = false;
};
struct TopCommand {
  bool local = false;
  std::string library;  // glob over sonames; empty = all
  std::uint64_t limit = 20;
  analysis::SortKey sort = analysis::SortKey::kTotal;
};
struct CheckCommand {
  std::filesystem::path profile;  // empty = this machine's own measurements
  stats::Metric metric = stats::Metric::kWallTime;
  std::uint64_t seed = 0;      // 0 = the draws are a function of the inputs alone
  bool all = false;            // name also what is normal, and all with too little data
  std::string explain;         // "symbol" or "soname!symbol"; empty = the report
  std::filesystem::path tree;  // sampled stacks to be shown with what is flagged
  std::filesystem::path save;  // write a profile there instead of checking
};
struct DiffCommand {
  std::string library;                  // soname, glob or a part of it
  std::string before;                   // version or how it begins; empty = the one before `after`
  std::string after;                    // empty = the newest
  std::string api;                      // glob over symbols; empty = all
  std::optional<stats::Metric> metric;  // only this
  bool all = false;                     // also what is not shown to have changed
};
enum class ReportFormat { kText, kHtml, kCsv, kJson };
struct ReportVendorCommand {
  std::string library;  // soname, glob or a part of it
  analysis::GroupBy by = analysis::GroupBy::kModule;
  std::string baseline;                // version or how it begins; empty = before the newest
  std::filesystem::path output;        // empty or "-" = stdout
  std::optional<ReportFormat> format;  // nullopt = by the name of `output`, else text
};
// A card for each API, in files.
struct DocsCardsCommand {
  std::filesystem::path output;  // directory
  std::string library;           // glob over sonames; empty = all
  std::string url;               // link template (report/link_template.h); empty = no links
};
// Cards in the pages that Doxygen has written.
struct DocsDoxygenCommand {
  std::filesystem::path html_directory;
  std::filesystem::path tag_file;
  std::string library;  // as above
  std::string url;
};
struct ManCommand {
  std::string api;
  std::string section;  // of the manual; empty = of functions
  std::string url;
  bool roff = false;  // the source, not shown
};
enum class Shell { kBash, kZsh, kFish };
struct CompletionCommand {
  Shell shell = Shell::kBash;
};
// What the completion scripts ask: the words behind the program's name, the last one unfinished.
struct CompleteCommand {
  std::vector<std::string> words;
};

struct CommandLine {
  bool json = false;
  bool csv = false;
  bool pager = true;
  draw::ColorChoice color = draw::ColorChoice::kAuto;
  std::variant<AgentModeCommand, AgentStatusCommand, AgentExplainCommand, AgentSessionCommand,
               AgentPreviewCommand, AgentLogCommand, AgentViewCommand, AgentForgetCommand,
               AgentEnrolCommand, RunCommand, SyncCommand, ShowCommand, HistCommand,
               SpectrumCommand, SearchCommand, TopCommand, CheckCommand, DiffCommand,
               ReportVendorCommand, DocsCardsCommand, DocsDoxygenCommand, ManCommand,
               CompletionCommand, CompleteCommand>
      command;
};

// Whether --csv is understood: by commands whose answer is one table. Add yours here.
bool HasCsv(const CommandLine& line);

// Either a command line, or an answer that is complete already (help, version, usage error).
struct Answer {
  int exit_status = 0;
  std::string output;  // for stdout
  std::string errors;  // one line for stderr, without prefix and newline
};

// `arguments` without the program's name.
std::variant<CommandLine, Answer> ParseCommandLine(std::vector<std::string> arguments);

}  // namespace fieldcost::cli
