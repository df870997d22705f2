#pragma once

#include <string>

#include "common/base/result.h"
#include "tools/exchange/export_view.h"

namespace fieldcost::exchange {

// The functions that Export() calls, one per format that can be written; Export() documents them.

Result<std::string> ExportPprof(const ExportView& view, const std::string& title);
Result<std::string> ExportFolded(const ExportView& view, std::size_t metric);
Result<std::string> ExportSpeedscope(const ExportView& view, const std::string& title);
Result<std::string> ExportChrome(const ExportView& view);
Result<std::string> ExportFirefox(const ExportView& view, const std::string& title);

}  // namespace fieldcost::exchange
