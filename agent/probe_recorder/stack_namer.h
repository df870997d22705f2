#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/probe/ring_reader.h"
#include "agent/symbols/symbols.h"
#include "agent/unwind/module_map.h"
#include "agent/unwind/table_cache.h"
#include "agent/unwind/unwinder.h"
#include "common/probe/types.h"

namespace fieldcost::probe {

// Returns a program's mappings: from the kernel while it runs, otherwise from the list that the
// program wrote.
unwind::ModuleMap MapOf(const RingFile& file);

// The part of a path after its last '/'.
std::string FileNameOf(const std::string& path);

struct NamedStack {
  std::vector<Frame> frames;  // innermost first; texts are clean
  bool is_cut = false;
  bool operator==(const NamedStack&) const = default;
};

// Resolves registers and a piece of raw stack to names. Caches tables and names across programs.
// Not thread-safe.
class StackNamer {
 public:
  StackNamer() : unwinder_(tables_) {}

  // `stack`: the words starting at registers.sp.
  NamedStack Name(unwind::ModuleMap& map, const shm::ProbeRegisters& registers,
                  std::span<const std::uint64_t> stack);

 private:
  void AppendFrames(unwind::ModuleMap& map, const unwind::Frame& frame, NamedStack& named);

  unwind::TableCache tables_;
  unwind::Unwinder unwinder_;
  symbols::Symbols symbols_;
  unwind::Stack stack_;
};

}  // namespace fieldcost::probe
