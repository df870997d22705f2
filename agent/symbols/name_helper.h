#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/symbols/dwarf_module.h"
#include "common/base/result.h"

namespace fieldcost::symbols {

// libdw maps files: a file that is truncated while it is read kills the reading process, and a
// hostile one may exploit a bug in libdw. So a recorder reads names in helpers: further processes
// of its own program, without capabilities, network or other programs, running as the file's owner
// if the recorder is root. A helper that exits, hangs or sends invalid answers costs only the names
// of the file that it was reading. Not thread-safe.

// For the first line of a recorder's main(): the exit status if this process was started as a
// helper, whose work is then done.
std::optional<int> ServeNamesIfAsked(int argc, char** argv);

// From now on OpenModule() and NamesOfFunctions() read in helpers. REQUIRES: this program's main()
// calls ServeNamesIfAsked().
void ReadNamesInHelpers();

// As DwarfModule::Open() and FunctionNames(), here or in a helper. With helpers, a file of another
// user than root is read with that user's rights only, and one of root's with those of uid 65534,
// unless it is closed to others. kUnavailable: the helper failed.
Result<std::unique_ptr<DwarfModule>> OpenModule(DwarfModule::Options options);
Result<std::vector<std::string>> NamesOfFunctions(const std::filesystem::path& path);

}  // namespace fieldcost::symbols
