#pragma once

#include <string>
#include <string_view>

#include "common/tree/frame.h"
#include "common/tree/metric.h"

namespace fieldcost::exchange {

// Frames and metrics in one text, for formats that have no more room.

// "libz.so!inflate(z_stream_s*, int)", "main", "libz.so!0x1234" (code without a name), "[kernel]".
// Source files of local functions and build-ids are left out. Control characters, ';', and what
// would be taken for another kind of frame are "\xNN"; so every text is read as what was written.
std::string FrameText(const tree::Frame& frame);

// The frame that such a text means, also of others: the module's directories and version are left
// out, mangled names demangled. An empty text is "[unknown]". Names beyond the limits stay so: the
// frame may be invalid.
tree::Frame FrameOfText(std::string_view untrusted_text);
// The same for a file that we wrote: names are left as they are.
tree::Frame FrameOfOwnText(std::string_view untrusted_text);

// As others name functions in fields of their own. An empty module or function is unknown;
// "[unknown]" without a module is a special frame.
tree::Frame FrameOfNames(std::string_view untrusted_module, std::string_view untrusted_function);

// "wall ns exact", "cpu ns sampled 1003009".
std::string MetricText(const tree::Metric& metric);
// False unless it is such a text of a valid metric.
bool TakeMetricText(std::string_view untrusted_text, tree::Metric& metric);

// A metric's name of any text: lower case, and '-' for what is not allowed; not empty.
std::string MetricName(std::string_view untrusted_text);

// ns, bytes or counts of any text ("microseconds", "kilobytes"), and by how much a number of it is
// multiplied then. What is not known is counted.
struct UnitScale {
  tree::Unit unit;
  std::uint64_t factor;
};
UnitScale UnitOf(std::string_view untrusted_unit);

}  // namespace fieldcost::exchange
