#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/unwind/unwinder.h"

namespace fieldcost::perf {

// The place of a frame in a form that is stable across runs: an address in its module's file.
struct SampledFrame {
  std::uint32_t module = 0;   // index into Sampler::modules()
  std::uint64_t address = 0;  // inside the instruction that the frame is executing
  bool guessed = false;       // from a frame pointer
};

struct SampledModule {
  enum class Kind {
    kFile,       // addresses are those in the file
    kRaw,        // the file could not be read: addresses are offsets in it
    kGenerated,  // there is no file: addresses in the process `pid`
    kUnknown,    // not in a known mapping: raw addresses
  };
  Kind kind = Kind::kUnknown;
  std::string path;                         // untrusted; as the process sees it; "[vdso]"
  std::string build_id;                     // empty: none
  pid_t pid = 0;                            // if kGenerated
  const unwind::CfiTable* table = nullptr;  // if kFile; lives as long as the Sampler
  std::shared_ptr<const UniqueFd> opened;   // if kFile, unless too many are open
};

// The modules of all frames seen, each once. Only grows. Not thread-safe.
class ModuleList {
 public:
  const std::vector<SampledModule>& all() const { return modules_; }

  // Converts the frames of a stack. Replaces the content of `frames`.
  void SetFrames(unwind::ModuleMap& map, const unwind::Stack& stack,
                 std::vector<SampledFrame>& frames);

 private:
  SampledFrame FrameOf(unwind::ModuleMap& map, const unwind::Frame& frame);
  std::uint32_t ModuleOf(SampledModule module);

  std::vector<SampledModule> modules_;
  std::map<std::string, std::uint32_t> module_of_;
  std::map<const unwind::CfiTable*, std::uint32_t> module_of_table_;
};

}  // namespace fieldcost::perf
