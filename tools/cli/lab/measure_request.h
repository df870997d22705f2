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

inline constexpr std::uint64_t kMostRounds = 1'000;

// The parsed request of `fieldcost measure`.
struct MeasureRequest {
  lab::MeasureOptions options;
  std::filesystem::path input;      // standard input of each run; empty: this process's
  std::vector<std::uint64_t> scan;  // values of {N}; empty: no {N} in the command
  std::string scan_name;
  std::string name;
  std::filesystem::path save;
  std::filesystem::path base;          // a table to compare with; empty = none
  std::filesystem::path requirements;  // a file of them to check; empty = none
  std::uint64_t limit = 0;             // lines of the table as text; 0 = all
  bool with_field = false;             // compare with the catalogue
  bool names_uncalled = false;         // list the libraries' functions that were not called
  std::filesystem::path page;          // an HTML page to write; empty = none
  LabExports exports;
};

std::vector<command::Option> MeasureRequestOptions();
// REQUIRES: `arguments` contain these options and a program.
Result<MeasureRequest> MeasureRequestOf(const command::Arguments& arguments);

}  // namespace fieldcost::cli
