#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/symbols/dwarf_module.h"
#include "common/base/file.h"

namespace fieldcost::symbols {

// Names of addresses in many modules: each build's file is opened once, and each address is looked
// up once. Meant for the end of a recording: the first look-up in a module reads its tables. Not
// thread-safe.
class Symbols {
 public:
  static constexpr std::size_t kMostAddresses = std::size_t{1} << 22;  // maximum number kept

  explicit Symbols(std::vector<std::filesystem::path> debug_directories = {"/usr/lib/debug"})
      : debug_directories_(std::move(debug_directories)) {}

  struct Module {
    std::string name;      // as returned by tree::ModuleName()
    std::string soname;    // untrusted; empty: none
    std::string build_id;  // the file's, or else the requested one; empty: none
    bool readable = false;
  };

  // Returns the module of the file at `path` or, if not null, of the file `opened`, no matter which
  // file is at the path by now. The file must belong to the build unless `build_id` is empty. The
  // result lives as long as this.
  const Module& ModuleOf(const std::filesystem::path& path, const std::string& build_id,
                         const std::shared_ptr<const UniqueFd>& opened = nullptr);

  // Returns the functions at an address of the file, innermost first; empty: no name is known. The
  // result lives until the next call.
  const std::vector<SourceFrame>& FramesAt(const std::filesystem::path& path,
                                           const std::string& build_id, std::uint64_t address,
                                           const std::shared_ptr<const UniqueFd>& opened = nullptr);

 private:
  struct Kept {
    Module module;
    std::unique_ptr<DwarfModule> dwarf;  // null: not readable
    std::unordered_map<std::uint64_t, std::vector<SourceFrame>> frames;
  };
  Kept& Keep(const std::filesystem::path& path, const std::string& build_id,
             const std::shared_ptr<const UniqueFd>& opened);

  std::vector<std::filesystem::path> debug_directories_;
  std::map<std::string, std::unique_ptr<Kept>> kept_;  // by build-id, else by file
  std::size_t addresses_ = 0;
};

}  // namespace fieldcost::symbols
