// `fieldcost tree import` and `export`: convert files of other profilers.
#include <fmt/format.h>

#include <vector>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/tree/codec.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/tree_answer.h"
#include "tools/exchange/exchange.h"

namespace fieldcost::cli {
namespace {

std::vector<std::string> FormatNames(bool exchange::FormatInfo::*which) {
  std::vector<std::string> names;
  for (const exchange::FormatInfo& info : exchange::Formats()) {
    if (info.*which) names.emplace_back(info.name);
  }
  return names;
}

Result<int> Import(const command::Arguments& arguments) {
  exchange::ImportOptions options;
  if (const std::string& name = arguments.Text("--from"); !name.empty()) {
    options.format = exchange::FindFormat(name)->format;
  }
  FIELDCOST_ASSIGN(const exchange::Imported imported, ImportFile(arguments.Text("file"), options));
  for (const std::string& remark : imported.untrusted_remarks) Remark(EscapeControl(remark));
  const std::string& file = arguments.Text("--output");
  FIELDCOST_TRY(imported.recording
                    ? WriteFileAtomically(file, *imported.recording, kPrivateFileMode)
                    : SaveTree(file, tree::EncodeTree(imported.tree)));
  return 0;
}

Result<int> Export(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const TreeOperand operand, OperandOf(arguments.Text("recording"), arguments));
  FIELDCOST_ASSIGN(const LoadedTree loaded, LoadTree(operand));
  const auto* const runs = std::get_if<tree::Tree>(&loaded.tree);
  if (runs == nullptr) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} has a mean or a difference, which no format can hold",
                EscapeControl(operand.file.string()));
  }
  FIELDCOST_ASSIGN(const exchange::Exported exported,
                   exchange::Export(*runs, exchange::FindFormat(arguments.Text("--to"))->format,
                                    {.title = operand.file.filename().string(),
                                     .metric = arguments.Text("--metric"),
                                     .threads = loaded.threads}));
  for (const std::string& remark : loaded.remarks) Remark(EscapeControl(remark));
  for (const std::string& remark : exported.remarks) Remark(EscapeControl(remark));
  const std::string& file = arguments.Text("--output");
  FIELDCOST_TRY(file == kStdout ? WriteStdout(exported.bytes)
                                : WriteFileAtomically(file, exported.bytes, kPrivateFileMode));
  return 0;
}

}  // namespace

command::Command TreeImportCommand() {
  return {
      .name = "import",
      .summary = "Make a recording of another profiler's output",
      .help =
          R"(The format is detected from the content, also of gzip. Omissions are counted and reported, as are
files that must be converted first. All `tree` commands also read such files directly. Times and
threads are kept from perf script, Chrome and event text; threads alone from labels of pprof, and
from files of `tree export --by thread`. Examples:
  perf script > app.txt && fieldcost tree import app.txt -o a.fct
  fieldcost tree show app.txt@1s..2s --by thread
  fieldcost tree import profile.pb.gz -o a.fct
  fieldcost tree show stacks.folded)",
      .options = {{.names = "file",
                   .value = "FILE",
                   .help = "Output of another profiler",
                   .completes = command::Completes::kFiles,
                   .required = true},
                  {.names = "--from",
                   .value = "FORMAT",
                   .help = "Format of the file instead of the detected one",
                   .choices = FormatNames(&exchange::FormatInfo::can_import)},
                  {.names = "--output,-o",
                   .value = "FILE",
                   .help = "Recording file to write",
                   .completes = command::Completes::kFiles,
                   .required = true}},
      .handler = Import,
      .without = {"--json", "--csv"}};
}

command::Command TreeExportCommand() {
  return {
      .name = "export",
      .summary = "Export a recording for flame graph tools, pprof, browsers",
      .help = R"(Exact sums over all runs; what a format cannot hold is reported. With --by, chrome,
firefox, speedscope and pprof have threads of their own; folded stacks, which can hold none, begin
with them as frames. Examples:
  fieldcost tree export a.fct --to pprof -o a.pb.gz
  fieldcost tree export a.fct@12s..14s --to speedscope -o slice.json
  fieldcost tree export a.fct --by thread --to chrome -o a.json
  fieldcost tree export a.fct --to folded | flamegraph.pl > a.svg)",
      .options = {RecordingOperand(),
                  {.names = "--to",
                   .value = "FORMAT",
                   .help = "Format to write",
                   .choices = FormatNames(&exchange::FormatInfo::can_export),
                   .required = true},
                  {.names = "--metric",
                   .value = "NAME",
                   .help = "For a format that holds one metric [wall, else cpu]"},
                  DivideByOption(),
                  {.names = "--output,-o",
                   .value = "FILE",
                   .help = "Write to FILE (- = stdout)",
                   .default_text = kStdout,
                   .completes = command::Completes::kFiles}},
      .handler = Export,
      .without = {"--json", "--csv"}};
}

}  // namespace fieldcost::cli
