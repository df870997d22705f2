#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/tree/frame.h"

namespace fieldcost::tree {

// From what symbol tables say to what stays the same from build to build. Any bytes may come in.
// Pure functions, thread-safe.

// "libz.so" of "libz.so.1", of "/usr/lib/libz.so.1.2.13" and of "/tmp/libz.so.1 (deleted)"; of
// other files their name.
std::string ModuleName(std::string_view untrusted_soname_or_path);

// Demangled, with arguments, without what compilers and linkers append: of "_Z1fi.isra.0.cold" it
// is "f(int)". Suffixes of clones (.isra, .constprop, .part, .cold, .lto_priv, .llvm and the like,
// with their numbers) and symbol versions ("@@GLIBC_2.14") are cut. Rust's names of both schemes
// are demangled without hashes and numbers of crates, also where a C++ demangler has half read
// them. "deflate@plt" and other code of its own ("f._omp_fn.0", "f.resume") keep their names.
std::string FunctionName(std::string_view untrusted_symbol);

// What is known of a place in a program.
struct RawSymbol {
  std::string module;        // soname, else path
  std::string symbol;        // as in the symbol table; empty: there is none
  bool is_local = false;     // a static function: others may have its name
  std::string source_file;   // of a local symbol, if known; directories do not count
  std::string build_id;      // bytes
  std::uint64_t offset = 0;  // of the function in the module's file, as far as it is known
};

// Names beyond kMaxNameBytes are cut there, build-ids beyond kMaxBuildIdBytes, so the frame is
// valid.
Frame MakeFrame(const RawSymbol& untrusted_symbol);

}  // namespace fieldcost::tree
