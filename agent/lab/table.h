#pragma once

#include <filesystem>
#include <string>

#include "agent/lab/measure.h"
#include "agent/settings/config.h"
#include "common/base/result.h"
#include "common/wire/lab_table.h"

namespace fieldcost::lab {

struct TableOptions {
  std::string name;         // of the part
  std::string environment;  // of the machine
  std::int64_t started_us = 0;
  std::string apis;  // MeasureOptions::apis
};

// The table of a measurement, of one part. Whose libraries are public is what `config` says.
Result<wire::LabTable> MakeTable(const Measurement& measurement, const agent::AgentConfig& config,
                                 const TableOptions& options);

}  // namespace fieldcost::lab
