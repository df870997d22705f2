#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/read_at.h"

namespace fieldcost::agent {

// How a program's code reaches the functions of its libraries. Calls through a PLT are measured.
// A program built without one (-fno-plt, as rustc does) calls through GLOB_DAT slots, which hold
// the function's address for the program's own use as well: these calls are measured where the user
// named the function and no code and no data takes its address (agent/intercept/called_slots.h).
struct ImportedFunction {
  std::string untrusted_symbol;
  bool has_plt = false;             // a JUMP_SLOT
  bool is_called_directly = false;  // by code without a PLT
  bool is_address_taken = false;    // by code or by data

  bool can_be_measured() const { return has_plt || (is_called_directly && !is_address_taken); }
};

// Functions that a program with these bytes imports and that could be measured, at most
// kMaxImports, in the order of its relocations. Empty if it is no such program or damaged. Reads a
// bounded part of the bytes and trusts none of them. Pure.
inline constexpr std::size_t kMaxImports = 65536;
std::vector<ImportedFunction> ReadImports(const ReadAt& read);

// The same of the program that `name` runs: looked up in PATH; of a script, its interpreter.
std::vector<ImportedFunction> ImportsOfProgram(const std::string& name);

// Symbols of those without a PLT.
struct CallsWithoutPlt {
  std::vector<std::string> measured_if_named;
  std::vector<std::string> address_taken;  // never measured
};
CallsWithoutPlt WithoutPlt(std::span<const ImportedFunction> imports);

// Why no call of a function was measured although the program imports it, for every command that
// reports it: a phrase that follows the function's name and a colon, and is to be escaped. Empty if
// this reason does not apply: the program imports no function that one of the globs means
// ("library!symbol" or "symbol", comma-separated), or one that can be measured.
std::string WhyNotMeasured(std::string_view program, std::span<const ImportedFunction> imports,
                           std::string_view globs);

// The same phrase for functions that are known to be such.
std::string AddressTakenPhrase(std::string_view program);

}  // namespace fieldcost::agent
