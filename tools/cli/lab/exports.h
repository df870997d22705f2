#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/command/arguments.h"
#include "common/command/command.h"
#include "common/wire/lab_table.h"

namespace fieldcost::cli {

// Exports of a lab table's stacks for other tools (tools/report/lab/lab_export.h). The files are
// readable only by the user. An empty path means not requested.
struct LabExports {
  std::filesystem::path pprof;
  std::filesystem::path folded;
};

command::Option ExportPprofOption();   // --export-pprof FILE
command::Option ExportFoldedOption();  // --export-folded FILE
LabExports ExportsOf(const command::Arguments& arguments);

// Writes the requested files. Errors as WriteFileAtomically() and exchange::EncodePprof().
Status WriteExports(const LabExports& exports, const wire::LabTable& table);

}  // namespace fieldcost::cli
