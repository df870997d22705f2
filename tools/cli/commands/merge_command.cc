// `fieldcost merge`: adds up lab tables.
#include <vector>

#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/costs/lab_table_file.h"
#include "tools/cli/lab/exports.h"
#include "tools/cli/lab/lab_json.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct MergeRequest {
  std::vector<std::filesystem::path> tables;
  std::filesystem::path output;
  LabExports exports;
};

std::string MergedText(const std::filesystem::path& file, const wire::LabTable& table) {
  return fmt::format("{}, {}, {} in {}\n", Counted(table.parts.size(), "measurement"),
                     Counted(table.apis.size(), "API"), Counted(CallsOf(table), "call"),
                     EscapeControl(file.string()));
}

Result<int> RunMerge(const MergeRequest& command, const Output& output) {
  std::vector<wire::LabTable> tables;
  for (const std::filesystem::path& file : command.tables) {
    FIELDCOST_ASSIGN(wire::LabTable table, ReadLabTable(file));
    tables.push_back(std::move(table));
  }
  FIELDCOST_ASSIGN(const wire::LabTable sum, wire::MergeLabTables(tables));
  FIELDCOST_ASSIGN(const std::size_t size_bytes, WriteLabTable(command.output, sum));
  FIELDCOST_TRY(WriteExports(command.exports, sum));
  FIELDCOST_TRY(WriteStdout(output.json ? WrittenTableJson(command.output, size_bytes, sum)
                                        : MergedText(command.output, sum)));
  return 0;
}

}  // namespace

command::Command MergeCommand() {
  return {
      .name = "merge",
      .summary = "Add up measurements of several scenarios",
      .help =
          R"(The order does not matter, and merged tables may be merged again. A measurement present in two tables
is rejected (status 64), so that nothing counts twice. Examples:
  fieldcost merge -o all.lab a.lab b.lab
  fieldcost merge -o all.lab all.lab c.lab
  fieldcost merge -o all.lab a.lab b.lab --export-pprof all.pb.gz \
    --export-folded all.folded
  fieldcost top --table all.lab)",
      .options = {{.names = "table",
                   .value = "TABLE",
                   .help = "A table written by `fieldcost measure --save` or `merge`",
                   .completes = command::Completes::kFiles,
                   .required = true,
                   .repeats = true},
                  {.names = "--output,-o",
                   .value = "FILE",
                   .help = "Write the sum to FILE, which may be one of the tables",
                   .completes = command::Completes::kFiles,
                   .required = true},
                  ExportPprofOption(),
                  ExportFoldedOption()},
      .handler =
          [](const command::Arguments& arguments) {
            const std::vector<std::string>& names = arguments.Texts("table");
            return RunMerge({.tables = {names.begin(), names.end()},
                             .output = arguments.Text("--output"),
                             .exports = ExportsOf(arguments)},
                            OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
