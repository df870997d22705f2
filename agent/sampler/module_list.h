#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/unwind/unwinder.h"

namespace fieldcost::sampler {

// The place of a frame, in a form that does not change from run to run: an address as its module's
// file names it.
struct SampledFrame {
  std::uint32_t module = 0;   // index into Sampler::modules()
  std::uint64_t address = 0;  // inside the instruction that the frame is at
  bool guessed = false;       // by a frame pointer
};

struct SampledModule {
  enum class Kind {
    kFile,       // addresses as its file names them
    kRaw,        // a file that could not be read: offsets in it
    kGenerated,  // of no file: addresses of the process `pid`
    kUnknown,    // of no memory that is known: addresses as they are
  };
  Kind kind = Kind::kUnknown;
  std::string path;                         // untrusted; as the process sees it; "[vdso]"
  std::string build_id;                     // empty: none
  pid_t pid = 0;                            // of kGenerated
  const unwind::CfiTable* table = nullptr;  // of kFile; lives as long as the Sampler
  std::shared_ptr<const UniqueFd> opened;   // of kFile, unless too many are open
};

// Modules that frames were met in, each once. They only grow. Not thread-safe.
class ModuleList {
 public:
  const std::vector<SampledModule>& all() const { return modules_; }

  // Replaces what is in `frames`.
  void SetFrames(unwind::ModuleMap& map, const unwind::Stack& stack,
                 std::vector<SampledFrame>& frames);

 private:
  SampledFrame FrameOf(unwind::ModuleMap& map, const unwind::Frame& frame);
  std::uint32_t ModuleOf(SampledModule module);

  std::vector<SampledModule> modules_;
  std::map<std::string, std::uint32_t> module_of_;
  std::map<const unwind::CfiTable*, std::uint32_t> module_of_table_;
};

}  // namespace fieldcost::sampler
