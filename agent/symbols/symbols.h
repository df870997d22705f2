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

// Names of addresses of many modules: each build's file is opened once, each address looked up
// once. Meant for the end of a recording: the first look-up of a module reads its tables. Not
// thread-safe.
class Symbols {
 public:
  static constexpr std::size_t kMostAddresses = std::size_t{1} << 22;  // that are kept

  explicit Symbols(std::vector<std::filesystem::path> debug_directories = {"/usr/lib/debug"})
      : debug_directories_(std::move(debug_directories)) {}

  struct Module {
    std::string name;      // as tree::ModuleName() makes it
    std::string soname;    // untrusted; empty: none
    std::string build_id;  // of the file, else what was asked for; empty: none
    bool readable = false;
  };

  // The file at `path`, or, where that is known, the one `opened`, whatever is at the path by now;
  // if it is of the build, or no build-id is asked for. Lives as long as this.
  const Module& ModuleOf(const std::filesystem::path& path, const std::string& build_id,
                         const std::shared_ptr<const UniqueFd>& opened = nullptr);

  // The functions at an address of the file, the innermost first; empty: no name is known.
  // Lives until the next call.
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
