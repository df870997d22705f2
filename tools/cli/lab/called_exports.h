#pragma once

#include "agent/lab/measure.h"
#include "tools/analysis/coverage.h"

namespace fieldcost::cli {

// Reads the files of the measured libraries, and returns which of their exported functions the
// scenario has called through slots. Functions that --apis does not select are left out.
analysis::Coverage CoverageOf(const lab::Measurement& found, const lab::MeasureOptions& options);

}  // namespace fieldcost::cli
