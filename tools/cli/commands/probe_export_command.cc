// `fieldcost probe export`: converts events for other programs.
#include "common/base/file.h"
#include "common/probe/event_export.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/probe/probe_options.h"
#include "tools/cli/probe/sides.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr char kOtlp[] = "otlp";

Result<int> RunProbeExport(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::vector<probe::Event> events,
                   LoadEvents(arguments.Text("events"), arguments.Text("--db")));
  const std::string text =
      arguments.Text("--to") == kOtlp ? probe::ToOtlpJson(events) : probe::ToChromeJson(events);
  const std::string& file = arguments.Text("--output");
  FIELDCOST_TRY(file == kStdout ? WriteStdout(text)
                                : WriteFileAtomically(file, text, kPrivateFileMode));
  return 0;
}

}  // namespace

command::Command ProbeExportCommand() {
  return {
      .name = "export",
      .summary = "Export events for other programs",
      .help =
          R"(Events are selected as for compare, including those set aside. otlp is OpenTelemetry's OTLP/JSON, one
trace per event, for collectors' file receivers and /v1/traces; chrome is Chrome's trace format,
which Perfetto reads. Examples:
  fieldcost probe export last --to chrome -o last.json
  fieldcost probe export build:1.3,tag:cold --to otlp |
    curl --json @- http://localhost:4318/v1/traces)",
      .options = {ProbeSelectionOperand("events", "EVENTS", "The events to export"),
                  {.names = "--to",
                   .value = "FORMAT",
                   .help = "Format to write",
                   .choices = {kOtlp, "chrome"},
                   .required = true},
                  {.names = "--output,-o",
                   .value = "FILE",
                   .help = "Write to FILE (- = stdout)",
                   .default_text = kStdout,
                   .completes = command::Completes::kFiles},
                  ProbeDbOption()},
      .handler = RunProbeExport,
      .without = {"--json", "--csv"}};
}

}  // namespace fieldcost::cli
