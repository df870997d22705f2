#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/command/arguments.h"
#include "common/command/command.h"
#include "common/wire/lab_table.h"

namespace fieldcost::cli {

// The stacks of a lab table for tools that others make (tools/report/lab/lab_export.h); for the
// user only. An empty path: not asked for.
struct LabExports {
  std::filesystem::path pprof;
  std::filesystem::path folded;
};

command::Option ExportPprofOption();   // --export-pprof FILE
command::Option ExportFoldedOption();  // --export-folded FILE
LabExports ExportsOf(const command::Arguments& arguments);

// Writes those that are asked for. As WriteFileAtomically() and exchange::EncodePprof().
Status WriteExports(const LabExports& exports, const wire::LabTable& table);

}  // namespace fieldcost::cli
