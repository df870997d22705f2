#include "tools/cli/probe/probe_options.h"

#include <iterator>

namespace fieldcost::cli {
namespace {

Status CheckSelection(std::string& untrusted_text) {
  const auto selection = ParseEventSelection(untrusted_text);
  return selection ? Status() : Status(selection.error());
}

}  // namespace

command::Option ProbeDbOption() {
  return {.names = "--db",
          .value = "FILE",
          .help = "Use this database instead of this machine's",
          .completes = command::Completes::kFiles,
          .check = command::CheckNotEmpty};
}

command::Option ProbeLabelOption() {
  return {.names = "--label",
          .value = "LABEL",
          .help = "Only events with this label",
          .check = command::CheckNotEmpty};
}

command::Option ProbeSelectionOperand(std::string_view name, std::string_view value,
                                      std::string_view help) {
  return {.names = name, .value = value, .help = help, .check = CheckSelection, .required = true};
}

command::Option ProbeEventOperand() {
  return ProbeSelectionOperand("event", "EVENT", "Name, as in the list, or last");
}

void AddProbeFilters(command::Command& command) {
  const auto only = [](std::string_view names, std::string_view value, std::string_view help) {
    return command::Option{
        .names = names, .value = value, .help = help, .check = command::CheckNotEmpty};
  };
  command::Option tag = only("--tag", "TAG", "Only runs with this tag");
  tag.repeats = true;
  command.options.push_back(only("--build", "BUILD", "Only this build"));
  command.options.push_back(std::move(tag));
  command.options.push_back(only("--program", "NAME", "Only this program"));
}

EventSelection ProbeFilterOf(const command::Arguments& arguments) {
  return {.label = arguments.Text("--label"),
          .build = arguments.Text("--build"),
          .program = arguments.Text("--program"),
          .tags = arguments.Texts("--tag")};
}

}  // namespace fieldcost::cli
