#pragma once

// Private to the two sources that describe the command line; only they include it, and CLI11.

#include <CLI/CLI.hpp>
#include <string>

#include "tools/cli/command_line.h"
#include "tools/cli/help_text.h"

namespace fieldcost::cli {

// The parser, and what it writes into. A command that was given sets line.command at the end of
// the parse.
class Parser {
 public:
  Parser();
  CLI::App& app() { return app_; }
  CommandLine Take();
  // What is missing behind a command that only has others below it; empty if nothing is.
  std::string MissingCommand() const;
  bool runs_program() const { return run_->parsed(); }

 private:
  void AddAgent();
  void AddDecisions(CLI::App& agent);
  void AddSession(CLI::App& agent);
  void AddLooks(CLI::App& agent);
  void AddUndo(CLI::App& agent);
  void AddRun();
  void AddCatalogue();
  void AddLookUps();
  void AddCheck();
  void AddDiff();
  void AddReport();
  void AddDocs();
  void AddCompletion();
  // `command` becomes the command line's if the user gave this subcommand.
  template <typename Command>
  CLI::App* Add(CLI::App& parent, const char* name, const char* about, const char* footer,
                const Command& command) {
    CLI::App* added = parent.add_subcommand(name, about)->fallthrough();
    added->footer(footer);
    added->callback([this, &command] { line_.command = command; });
    return added;
  }

  CLI::App app_{help::kAbout, "fieldcost"};
  CLI::App* agent_ = nullptr;
  CLI::App* session_ = nullptr;
  CLI::App* report_ = nullptr;
  CLI::App* run_ = nullptr;
  CLI::App* docs_ = nullptr;

  CommandLine line_;
  std::string color_ = "auto";
  std::string sort_ = "total";
  std::string search_sort_ = "total";
  std::string shell_;
  const AgentModeCommand on_{agent::Mode::kOn};
  const AgentModeCommand local_{agent::Mode::kLocal};
  const AgentModeCommand off_{agent::Mode::kOff};
  const AgentSessionCommand session_on_{SessionAction::kOn};
  const AgentSessionCommand session_off_{SessionAction::kOff};
  const AgentSessionCommand session_status_{SessionAction::kStatus};
  AgentStatusCommand status_;
  AgentExplainCommand explain_;
  AgentPreviewCommand preview_;
  AgentLogCommand log_;
  AgentViewCommand view_;
  AgentForgetCommand forget_;
  AgentEnrolCommand enrol_;
  RunCommand run_command_;
  SyncCommand sync_;
  ShowCommand show_;
  HistCommand hist_;
  SpectrumCommand spectrum_;
  SearchCommand search_;
  TopCommand top_;
  CheckCommand check_;
  DiffCommand diff_;
  std::string diff_metric_;
  ReportVendorCommand vendor_;
  std::string group_by_ = "module";
  std::string report_format_;
  std::string metric_ = "wall_time";
  DocsCardsCommand docs_cards_;
  DocsDoxygenCommand docs_doxygen_;
  ManCommand man_;
  CompletionCommand completion_;
};

}  // namespace fieldcost::cli
