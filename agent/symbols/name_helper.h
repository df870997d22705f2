#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/symbols/dwarf_module.h"
#include "common/base/result.h"

namespace fieldcost::symbols {

// libdw maps files: if a file is truncated while it is read, the reading process is killed, and a
// hostile file may exploit a bug in libdw. So a recorder reads names in helpers: additional
// processes of its own program that cannot gain privileges, use the network or run other programs,
// and that run as the file's owner if the recorder is root. If a helper exits, hangs or sends
// invalid answers, only the names of the file that it was reading are lost. Not thread-safe.

// For the first line of a recorder's main(): if this process was started as a helper, serves
// requests until the end, and returns the exit status.
std::optional<int> ServeNamesIfAsked(int argc, char** argv);

// Makes OpenModule() and NamesOfFunctions() use helpers from now on. REQUIRES: this program's
// main() calls ServeNamesIfAsked().
void ReadNamesInHelpers();

// Like DwarfModule::Open() and FunctionNames(), in this process or in a helper. With helpers, a
// file that belongs to another user than root is read only with that user's rights, and a file of
// root's with those of uid 65534 unless it is closed to others. kUnavailable: the helper failed.
Result<std::unique_ptr<DwarfModule>> OpenModule(DwarfModule::Options options);
Result<std::vector<std::string>> NamesOfFunctions(const std::filesystem::path& path);

}  // namespace fieldcost::symbols
