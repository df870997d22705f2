#include "tools/cli/lab/exports.h"

#include "common/base/file.h"
#include "tools/report/lab/lab_export.h"

namespace fieldcost::cli {

command::Option ExportPprofOption() {
  return {.names = "--export-pprof",
          .value = "FILE",
          .help = "Write the call stacks to FILE for pprof: calls and bytes exact, time estimated",
          .completes = command::Completes::kFiles};
}

command::Option ExportFoldedOption() {
  return {.names = "--export-folded",
          .value = "FILE",
          .help = "Write them to FILE as folded stacks with estimated ns, for flame graphs",
          .completes = command::Completes::kFiles};
}

LabExports ExportsOf(const command::Arguments& arguments) {
  return {.pprof = arguments.Text("--export-pprof"), .folded = arguments.Text("--export-folded")};
}

Status WriteExports(const LabExports& exports, const wire::LabTable& table) {
  if (!exports.pprof.empty()) {
    FIELDCOST_ASSIGN(const std::string bytes, report::LabPprof(table));
    FIELDCOST_TRY(WriteFileAtomically(exports.pprof, bytes, kPrivateFileMode));
  }
  if (exports.folded.empty()) return {};
  return WriteFileAtomically(exports.folded, report::LabFolded(table), kPrivateFileMode);
}

}  // namespace fieldcost::cli
