#pragma once

#include <filesystem>
#include <string>

#include "agent/lab/measure.h"
#include "agent/settings/agent_config.h"
#include "common/base/result.h"
#include "common/wire/lab_table.h"

namespace fieldcost::lab {

struct TableOptions {
  std::string name;         // the part's
  std::string environment;  // the machine's
  std::int64_t started_us = 0;
  std::string apis;  // MeasureOptions::apis
};

// Creates the table of a measurement, with one part. `config` defines which libraries are public.
Result<wire::LabTable> MakeTable(const Measurement& measurement,
                                 const settings::AgentConfig& config, const TableOptions& options);

}  // namespace fieldcost::lab
