#pragma once

#include <string>
#include <string_view>

namespace fieldcost::exchange {

// Describes a known kind of file that cannot be imported and the command that converts or shows it,
// as in "a recording of `perf record`; `perf script -i FILE` prints what is read". Empty for other
// files. A pure function; examines at most the first 64 KiB.
std::string ForeignKind(std::string_view untrusted_bytes);

}  // namespace fieldcost::exchange
