#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/lab/measure.h"
#include "common/base/result.h"
#include "common/command/arguments.h"
#include "common/command/command.h"
#include "tools/cli/lab/exports.h"

namespace fieldcost::cli {

// What `fieldcost measure` is asked for.
struct MeasureRequest {
  lab::MeasureOptions options;
  std::filesystem::path input;      // the command's standard input in each run; empty: ours
  std::vector<std::uint64_t> scan;  // values of {N}; empty: it is not there
  std::string scan_name;
  std::string name;
  std::filesystem::path save;
  std::filesystem::path base;  // a table that it is compared with; empty = none
  std::uint64_t limit = 0;     // lines of the table as text; 0 = all
  bool with_field = false;     // and with the catalogue
  std::filesystem::path page;  // written for the browser; empty = none
  LabExports exports;
};

std::vector<command::Option> MeasureRequestOptions();
// REQUIRES: arguments of these options, and a program.
Result<MeasureRequest> MeasureRequestOf(const command::Arguments& arguments);

}  // namespace fieldcost::cli
