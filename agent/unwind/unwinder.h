#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "agent/unwind/memory_reader.h"
#include "agent/unwind/module_map.h"
#include "agent/unwind/registers.h"
#include "agent/unwind/table_cache.h"

namespace fieldcost::unwind {

inline constexpr std::size_t kMostFrames = 1024;

// Why a stack has no further frames.
enum class StackEnd {
  kOutermost,  // complete: the last frame has no caller
  kCut,        // the stack's memory could not be read, or had changed
  kNoTable,    // the last frame's code has no call frame information, and nothing else helps
  kBroken,     // the result cannot be a stack
  kTooDeep,    // kMostFrames
};

struct Frame {
  std::uint64_t address = 0;  // of the next instruction to be executed
  // True: interrupted there. False: a return address, preceded by the call.
  bool exact = false;
  // True: found by following code that has no call frame information, or by the frame pointer,
  // which a function in between may not have set.
  bool guessed = false;

  // Returns an address inside the instruction that the frame is executing.
  std::uint64_t lookup_address() const { return exact ? address : address - 1; }
};

struct Stack {
  std::vector<Frame> frames;  // innermost first
  StackEnd end = StackEnd::kBroken;
};

// Unwinds threads' stacks from registers and memory, one thread at a time. Bad tables, registers
// and memory lead to short or wrong stacks, but to nothing worse. Does not allocate once warm. Not
// thread-safe.
class Unwinder {
 public:
  // REQUIRES: `tables` outlives this.
  explicit Unwinder(TableCache& tables);

  // Needs rip and rsp, and the registers that rules need: rbp, rbx, r12 to r15, as far as they are
  // known. Replaces the content of `stack`.
  void Unwind(ModuleMap& map, const Registers& registers, StackMemory& memory, Stack& stack);

 private:
  struct Known {
    std::uint64_t address = 0;
    std::uint64_t generation = 0;  // of the map; 0: entry not used
    bool mapped = false;
    const CfiTable* table = nullptr;
    const CfiTable::Rule* rule = nullptr;
  };

  const Known& RuleFor(ModuleMap& map, std::uint64_t address);
  // Handles code without rules; returns true if `registers` have become the caller's.
  bool StepWithoutRules(ModuleMap& map, const Frame& frame, StackMemory& memory,
                        Registers& registers);
  bool FollowCode(FollowedCode& code, ModuleMap& map, const Frame& frame, StackMemory& memory,
                  Registers& registers);
  // Follows code that no file describes, such as an interpreter's trampolines, if it returns within
  // kGeneratedCodeBytes. Such code is read again each time, since the program may replace it. After
  // the program has ended, the paths found before are used.
  bool FollowGeneratedCode(ModuleMap& map, const Frame& frame, StackMemory& memory,
                           Registers& registers);
  bool TakePath(const std::optional<ReturnPath>& path, ModuleMap& map, StackMemory& memory,
                Registers& registers);
  bool CanReturnTo(ModuleMap& map, std::uint64_t address);
  // Returns the location of the first return address in a part of the stack; `end` if there is
  // none.
  std::uint64_t FirstReturnAddress(ModuleMap& map, StackMemory& memory, std::uint64_t begin,
                                   std::uint64_t end);
  bool IsEntry(ModuleMap& map, std::uint64_t return_address);

  TableCache& tables_;
  std::vector<Known> known_;
  std::map<std::pair<pid_t, std::uint64_t>, std::optional<ReturnPath>> generated_;  // by address
};

}  // namespace fieldcost::unwind
