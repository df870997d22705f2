#pragma once

#include <string>
#include <string_view>

#include "common/tree/frame.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::exchange {

// Frames and metrics as single texts, for formats without separate fields.

// "libz.so!inflate(z_stream_s*, int)", "main", "libz.so!0x1234" (code without a name), "[kernel]".
// Source files of local functions and build-ids are omitted. Control characters, bytes of invalid
// UTF-8, ';', and anything that would be mistaken for another kind of frame are "\xNN", so every
// text is valid UTF-8 and parses to the frame that was written.
std::string FrameText(const tree::Frame& frame);

// Parses such a text, also from other programs: removes the module's directories and version and
// demangles names. An empty text is "[unknown]". Names beyond the limits are kept, so the frame may
// be invalid.
tree::Frame FrameOfText(std::string_view untrusted_text);
// The same for a file that we wrote: leaves names unchanged.
tree::Frame FrameOfOwnText(std::string_view untrusted_text);

// A name for a separate field: control characters and bytes of invalid UTF-8 become "\xNN", so the
// text is valid UTF-8, at most four times as long as the name.
std::string NameText(std::string_view name);
// The inverse, for files that we wrote.
std::string NameOfText(std::string_view untrusted_text);

// For formats with separate fields for module and function. An empty one is unknown; "[unknown]"
// without a module is a special frame.
tree::Frame FrameOfNames(std::string_view untrusted_module, std::string_view untrusted_function);

// "wall ns exact", "cpu ns sampled 1003009".
std::string MetricText(const tree::Metric& metric);
// False unless the text is of this form and the metric valid.
bool TakeMetricText(std::string_view untrusted_text, tree::Metric& metric);

// Converts any text to a metric name: lower case, with '-' for invalid characters; never empty.
std::string MetricName(std::string_view untrusted_text);

// The unit for any text ("microseconds", "kilobytes"): ns, bytes or count, and the factor that
// converts to it. Unknown units are counts.
struct UnitScale {
  tree::Unit unit;
  std::uint64_t factor;
};
UnitScale UnitOf(std::string_view untrusted_unit);

}  // namespace fieldcost::exchange
