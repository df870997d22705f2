#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/symbols/dwarf_module.h"

namespace fieldcost::symbols {

// libdw maps files, and one that is cut short while it is read ends the process that reads it; a
// hostile one may find a mistake in libdw. So a recorder reads names in helpers: its own program,
// started anew, without capabilities, network or other programs, as the file's owner where the
// recorder is root. A helper that ends, hangs or answers nonsense costs the names of the file that
// it was reading, nothing else. Not thread-safe.

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
