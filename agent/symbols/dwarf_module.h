#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::symbols {

// A function at an address: the enclosing one, or one inlined into it.
struct SourceFrame {
  std::string function;  // as shown by tree::FunctionName(); empty: unknown
  std::string file;      // source file, as passed to the compiler; empty: unknown
  std::uint32_t line = 0;
  bool local = false;    // its name is valid only within its file (static)
  bool inlined = false;  // into the next frame
  bool operator==(const SourceFrame&) const = default;
};

// Resolves addresses by a module's file and, if installed, its debug file. Their contents are
// untrusted; libdw reads and maps the files. Not thread-safe. Does not use the network.
class DwarfModule {
 public:
  static constexpr std::size_t kMostInlined = 64;

  struct Options {
    std::filesystem::path path;
    std::string build_id;  // lower-case hex; if not empty, the file must have this one
    // Debug files are .build-id/ab/cdef….debug below these directories; they are used only if they
    // belong to the same build.
    std::vector<std::filesystem::path> debug_directories = {"/usr/lib/debug"};
  };

  // Returns kNotFound if there is no such file or it belongs to another build; kCorrupt if it is
  // not an ELF file.
  static Result<std::unique_ptr<DwarfModule>> Open(Options options);

  virtual ~DwarfModule() = default;
  // Returns the functions at an address of the file, innermost first; the last one is not inlined.
  // Empty: no name is known.
  virtual std::vector<SourceFrame> FramesAt(std::uint64_t address) = 0;
  virtual const std::string& soname() const = 0;    // untrusted; empty: none
  virtual const std::string& build_id() const = 0;  // empty: none
};

}  // namespace fieldcost::symbols
