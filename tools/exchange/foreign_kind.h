#pragma once

#include <string>
#include <string_view>

namespace fieldcost::exchange {

// For a file of a kind that is known but not imported: what it is, and the command that converts or
// shows it, as in "a recording of `perf record`; `perf script -i FILE` prints what is read". Empty
// for other files. A pure function; looks at the beginning, and at most 64 KiB.
std::string ForeignKind(std::string_view untrusted_bytes);

}  // namespace fieldcost::exchange
