#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/probe/ring_reader.h"
#include "common/probe/types.h"
#include "common/symbols/symbols.h"
#include "common/unwind/module_map.h"
#include "common/unwind/table_cache.h"
#include "common/unwind/unwinder.h"

namespace fieldcost::probe {

// What a program has mapped: as the kernel tells it while it runs, else as the program wrote it
// down.
unwind::ModuleMap MapOf(const RingFile& file);

struct NamedStack {
  std::vector<Frame> frames;  // innermost first; texts are clean
  bool is_cut = false;
  bool operator==(const NamedStack&) const = default;
};

// Turns registers and a piece of raw stack into names. Tables and names are kept from program to
// program. Not thread-safe.
class StackNamer {
 public:
  StackNamer() : unwinder_(tables_) {}

  // `stack`: words from registers.sp on.
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
