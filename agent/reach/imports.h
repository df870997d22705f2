#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/read_at.h"

namespace fieldcost::reach {

// How a program's code reaches the functions of its libraries. Calls through a PLT are measured. A
// program built without one (-fno-plt, the default of rustc) calls through GLOB_DAT slots, from
// which the program may also take the function's address. Such calls are measured only if the user
// named the function and neither code nor data takes its address (agent/intercept/called_slots.h).
struct ImportedFunction {
  std::string untrusted_symbol;
  bool has_plt = false;             // has a JUMP_SLOT
  bool is_called_directly = false;  // by code that does not use a PLT
  bool is_address_taken = false;    // by code or data
  bool has_data_slot = false;       // has a GLOB_DAT slot
  bool is_in_data = false;          // a word of data holds its address

  bool has_slot() const { return has_plt || has_data_slot; }
  bool can_be_measured() const { return has_plt || (is_called_directly && !is_address_taken); }
};

// Returns whether our libraries never measure a function of this name, however it is called.
bool IsNeverMeasured(std::string_view symbol);

// Returns the functions that a program with these bytes imports and that could be measured, at most
// kMaxImports, in the order of its relocations. Empty if it is damaged or not such a program. Reads
// a bounded part of the untrusted bytes. Pure.
inline constexpr std::size_t kMaxImports = 65536;
std::vector<ImportedFunction> ReadImports(const ReadAt& read);

// The same for the program that `name` runs: looks it up in PATH; for a script, its interpreter.
std::vector<ImportedFunction> ImportsOfProgram(const std::string& name);

// Returns the functions of other objects whose address this program or library takes: calls through
// such pointers are not measured, even if calls by name are. With `data_slots`
// (--function-pointers), only those whose address is in its data. Untrusted; empty if the file
// cannot be read.
std::set<std::string> AddressesTaken(const std::filesystem::path& file, bool data_slots);

// Symbols of functions that are called without a PLT.
struct CallsWithoutPlt {
  std::vector<std::string> measured_if_named;
  std::vector<std::string> address_taken;  // never measured
};
CallsWithoutPlt WithoutPlt(std::span<const ImportedFunction> imports);

// Explains why no call of a function was measured although the program imports it; used by every
// command that reports it. Returns an unescaped phrase that follows the function's name and a
// colon. Empty if this reason does not apply: the program imports no function that matches one of
// the globs ("library!symbol" or "symbol", comma-separated), or imports one that can be measured.
std::string WhyNotMeasured(std::string_view program, std::span<const ImportedFunction> imports,
                           std::string_view globs);

// The same phrase for functions whose address is known to be taken.
std::string AddressTakenPhrase(std::string_view program);

}  // namespace fieldcost::reach
