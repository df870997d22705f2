#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/tree/tree.h"
#include "common/tree/tree_metric.h"
#include "tools/exchange/tree_builder.h"

namespace fieldcost::exchange {

// The functions that Import() calls, one per format that can be read; Import() documents them.

Result<Built> ImportPprof(std::string_view untrusted_bytes, Remarks& remarks);
Result<Built> ImportFolded(std::string_view untrusted_text, const tree::Metric& metric,
                           Remarks& remarks);
Result<Built> ImportPerfScript(std::string_view untrusted_text, Remarks& remarks);
Result<Built> ImportEvents(std::string_view untrusted_text, Remarks& remarks);
Result<Built> ImportChrome(std::string_view untrusted_json, Remarks& remarks);
Result<Built> ImportSpeedscope(std::string_view untrusted_json, Remarks& remarks);

// Whether a line has the format; used to detect formats from the content.
bool IsEventLine(std::string_view untrusted_line);
bool IsPerfSampleLine(std::string_view untrusted_line);

}  // namespace fieldcost::exchange
