#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/tree/frame.h"

namespace fieldcost::tree {

// Converts symbol table entries to identities that are stable across builds. Accepts any bytes.
// Pure functions, thread-safe.

// Returns "libz.so" for "libz.so.1", "/usr/lib/libz.so.1.2.13" and "/tmp/libz.so.1 (deleted)"; for
// other files, their file name.
std::string ModuleName(std::string_view untrusted_soname_or_path);

// Returns the demangled name with arguments, without suffixes of compilers and linkers: "f(int)"
// for "_Z1fi.isra.0.cold". Removes clone suffixes (.isra, .constprop, .part, .cold, .lto_priv,
// .llvm and similar ones, with their numbers) and symbol versions ("@@GLIBC_2.14"). Rust names of
// both schemes are demangled without hashes and crate numbers, even if a C++ demangler has partly
// decoded them. "deflate@plt" and other separate code ("f._omp_fn.0", "f.resume") keep their names.
std::string FunctionName(std::string_view untrusted_symbol);

// The known facts about a place in a program.
struct RawSymbol {
  std::string module;        // soname, or else path
  std::string symbol;        // as in the symbol table; empty if none
  bool is_local = false;     // a static function: its name may not be unique
  std::string source_file;   // of a local symbol, if known; directories are ignored
  std::string build_id;      // bytes
  std::uint64_t offset = 0;  // of the function in the module's file, if known
};

// Truncates names to kMaxNameBytes and build-ids to kMaxBuildIdBytes, so that the frame is valid.
Frame MakeFrame(const RawSymbol& untrusted_symbol);

}  // namespace fieldcost::tree
