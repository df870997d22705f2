#include "agent/unwind/unwinder.h"

#include <algorithm>
#include <optional>

#include "agent/unwind/expression.h"

namespace fieldcost::unwind {
namespace {

using Place = CfiTable::Place;

constexpr std::size_t kKnownAddresses = 16'384;  // a power of two
// Functions that keep a frame pointer rarely have larger frames.
constexpr std::uint64_t kMostGuessedFrameBytes = std::uint64_t{1} << 20;
// The maximum distance from the stack pointer at which a return address into the program's first
// instructions is searched for. Functions that call main and never return have small frames.
constexpr std::uint64_t kMostEntryFrameBytes = 512;
// Trampolines and entry stubs are shorter; following long functions in each sample would be slow.
constexpr std::size_t kGeneratedCodeBytes = 256;
constexpr std::size_t kMostGeneratedPaths = 16'384;
constexpr std::uint64_t kWord = sizeof(std::uint64_t);

std::size_t SlotOf(std::uint64_t address) {
  constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  constexpr int kBits = 14;
  static_assert(std::size_t{1} << kBits == kKnownAddresses);
  return static_cast<std::size_t>(address * kMultiplier >> (64 - kBits));
}

std::uint64_t Plus(std::uint64_t base, std::int32_t offset) {
  return base + static_cast<std::uint64_t>(std::int64_t{offset});
}

// The result of an attempt to find a caller.
enum class Step { kFound, kOutermost, kCut, kNoTable, kBroken };

// Handles the usual case, in which everything is at the CFA plus an offset.
Step ApplySimple(const CfiTable& table, const CfiTable::Rule& rule, StackMemory& memory,
                 std::uint64_t cfa, Registers& registers) {
  if (!rule.signal_frame) registers.ForgetCallerSaved();
  registers.Set(kStackPointer, cfa);
  bool has_return = false;
  for (const CfiTable::Saved& saved : table.SavedOf(rule)) {
    std::uint64_t value = 0;
    if (memory.Read(Plus(cfa, saved.offset), value)) {
      registers.Set(saved.number, value);
      has_return = has_return || saved.number == kInstructionPointer;
    } else {
      if (saved.number == kInstructionPointer) return Step::kCut;
      registers.Forget(saved.number);
    }
  }
  return has_return ? Step::kFound : Step::kBroken;
}

// Returns the caller's value of a register; nullopt if it cannot be read.
std::optional<std::uint64_t> ValueOf(const CfiTable& table, const CfiTable::Saved& saved,
                                     const Registers& registers, StackMemory& memory,
                                     std::uint64_t cfa) {
  std::uint64_t address = 0;
  switch (saved.place) {
    case Place::kNowhere:
      return std::nullopt;
    case Place::kRegister: {
      const auto other = static_cast<std::size_t>(saved.offset);
      if (!registers.Has(other)) return std::nullopt;
      return registers[other];
    }
    case Place::kCfaItself:
      return Plus(cfa, saved.offset);
    case Place::kAtCfa:
      address = Plus(cfa, saved.offset);
      break;
    case Place::kAtExpression:
    case Place::kExpressionItself: {
      const auto value =
          EvaluateExpression(table.ExpressionAt(saved.offset), registers, memory, cfa);
      if (!value || saved.place == Place::kExpressionItself) return value;
      address = *value;
      break;
    }
  }
  std::uint64_t value = 0;
  if (!memory.Read(address, value)) return std::nullopt;
  return value;
}

Step ApplyAny(const CfiTable& table, const CfiTable::Rule& rule, StackMemory& memory,
              std::uint64_t cfa, Registers& registers) {
  const Registers before = registers;
  if (!rule.signal_frame) registers.ForgetCallerSaved();
  registers.Set(kStackPointer, cfa);
  bool has_return = false;
  for (const CfiTable::Saved& saved : table.SavedOf(rule)) {
    const std::size_t failures = memory.failures();
    const auto value = ValueOf(table, saved, before, memory, cfa);
    if (value) {
      registers.Set(saved.number, *value);
      has_return = has_return || saved.number == kInstructionPointer;
      continue;
    }
    if (saved.number == kInstructionPointer) {
      if (saved.place == Place::kNowhere) return Step::kOutermost;
      return memory.failures() != failures ? Step::kCut : Step::kBroken;
    }
    registers.Forget(saved.number);
  }
  return has_return ? Step::kFound : Step::kBroken;
}

Step Apply(const CfiTable& table, const CfiTable::Rule& rule, StackMemory& memory,
           Registers& registers) {
  std::uint64_t cfa = 0;
  if (rule.cfa == CfiTable::Cfa::kRegister) {
    if (!registers.Has(rule.cfa_register)) return Step::kBroken;
    cfa = Plus(registers[rule.cfa_register], rule.cfa_offset);
  } else {
    const std::size_t failures = memory.failures();
    const auto value =
        EvaluateExpression(table.ExpressionAt(rule.cfa_offset), registers, memory, std::nullopt);
    if (!value) return memory.failures() != failures ? Step::kCut : Step::kBroken;
    cfa = *value;
  }
  // Returning moves the stack pointer outwards, except from a handler, whose stack may be anywhere.
  if (!rule.signal_frame && cfa < registers[kStackPointer]) return Step::kBroken;
  return rule.simple ? ApplySimple(table, rule, memory, cfa, registers)
                     : ApplyAny(table, rule, memory, cfa, registers);
}

// Used for code that cannot be read, such as code generated by the program.
bool StepByFramePointer(ModuleMap& map, StackMemory& memory, Registers& registers) {
  const std::uint64_t frame = registers[kFramePointer];
  std::uint64_t outer = 0;
  std::uint64_t caller = 0;
  if (!memory.Read(frame, outer) || !memory.Read(frame + kWord, caller) ||
      map.Find(caller) == nullptr) {
    return false;
  }
  // The function may have saved other registers besides its frame pointer.
  registers = Registers();
  registers.Set(kFramePointer, outer);
  registers.Set(kStackPointer, frame + 2 * kWord);
  registers.Set(kInstructionPointer, caller);
  return true;
}

bool HasFramePointer(const Registers& registers) {
  const std::uint64_t frame = registers[kFramePointer];
  return registers.Has(kFramePointer) && frame % kWord == 0 && frame >= registers[kStackPointer] &&
         frame - registers[kStackPointer] <= kMostGuessedFrameBytes;
}

// Restores the caller's preserved registers.
void Restore(const ReturnPath& path, StackMemory& memory, Registers& registers) {
  const Registers before = registers;
  registers.ForgetCallerSaved();
  for (std::size_t i = 0; i < path.preserved.size(); ++i) {
    const ReturnPath::Preserved& preserved = path.preserved[i];
    const std::uint8_t number = ReturnPath::kPreserved[i];
    if (preserved.fate == ReturnPath::Fate::kKept) continue;
    registers.Forget(number);
    std::uint64_t value = 0;
    if (preserved.fate == ReturnPath::Fate::kRestored && before.Has(preserved.place.base) &&
        memory.Read(Plus(before[preserved.place.base], preserved.place.offset), value)) {
      registers.Set(number, value);
    }
  }
}

StackEnd EndOf(Step step) {
  switch (step) {
    case Step::kFound:  // a caller at address 0, as C libraries set it
    case Step::kOutermost:
      return StackEnd::kOutermost;
    case Step::kCut:
      return StackEnd::kCut;
    case Step::kNoTable:
      return StackEnd::kNoTable;
    case Step::kBroken:
      break;
  }
  return StackEnd::kBroken;
}

}  // namespace

Unwinder::Unwinder(TableCache& tables) : tables_(tables), known_(kKnownAddresses) {}

const Unwinder::Known& Unwinder::RuleFor(ModuleMap& map, std::uint64_t address) {
  Known& known = known_[SlotOf(address)];
  if (known.address == address && known.generation == map.generation() && known.generation != 0) {
    return known;
  }
  known = {.address = address, .generation = map.generation()};
  Mapping* const mapping = map.Find(address);
  if (mapping == nullptr) return known;
  known.mapped = true;
  tables_.LookUp(map.pid(), *mapping);
  if (mapping->table == nullptr) return known;
  known.table = mapping->table;
  known.rule = mapping->table->Find(address - mapping->bias);
  return known;
}

bool Unwinder::CanReturnTo(ModuleMap& map, std::uint64_t address) {
  const Known known = RuleFor(map, address - 1);
  if (!known.mapped) return false;
  const Mapping* const mapping = map.Find(address - 1);
  const FollowedCode* const code = tables_.CodeOf(map.pid(), *mapping);
  return code != nullptr ? IsAfterCall(code->code(), address - mapping->bias)
                         : known.rule != nullptr;
}

std::uint64_t Unwinder::FirstReturnAddress(ModuleMap& map, StackMemory& memory, std::uint64_t begin,
                                           std::uint64_t end) {
  std::uint64_t word = 0;
  for (std::uint64_t at = begin; at < end; at += kWord) {
    if (!memory.Read(at, word)) return end;
    if (CanReturnTo(map, word)) return at;
  }
  return end;
}

bool Unwinder::IsEntry(ModuleMap& map, std::uint64_t return_address) {
  const Known& known = RuleFor(map, return_address - 1);
  return known.rule != nullptr && known.table->IsEntry(*known.rule);
}

bool Unwinder::FollowCode(FollowedCode& code, ModuleMap& map, const Frame& frame,
                          StackMemory& memory, Registers& registers) {
  const Mapping& mapping = *map.Find(frame.lookup_address());
  return TakePath(code.PathFrom(frame.address - mapping.bias, !frame.exact), map, memory,
                  registers);
}

bool Unwinder::FollowGeneratedCode(ModuleMap& map, const Frame& frame, StackMemory& memory,
                                   Registers& registers) {
  Code code{.address = frame.address, .bytes = {}, .is_go = false};
  code.bytes.resize(kGeneratedCodeBytes);
  code.bytes.resize(memory.ReadNow(frame.address, code.bytes));
  const std::pair key(map.pid(), frame.address);
  if (!code.bytes.empty()) {
    if (generated_.size() >= kMostGeneratedPaths) generated_.clear();
    generated_[key] = FindReturnPath(code, frame.address, !frame.exact);
  }
  const auto found = generated_.find(key);
  return found != generated_.end() && TakePath(found->second, map, memory, registers);
}

bool Unwinder::TakePath(const std::optional<ReturnPath>& path, ModuleMap& map, StackMemory& memory,
                        Registers& registers) {
  if (!path || !registers.Has(path->return_address.base)) return false;
  const std::uint64_t at = Plus(registers[path->return_address.base], path->return_address.offset);
  std::uint64_t caller = 0;
  if (at < registers[kStackPointer] || !memory.Read(at, caller) || !CanReturnTo(map, caller))
    return false;
  Restore(*path, memory, registers);
  registers.Set(kStackPointer, at + kWord);
  registers.Set(kInstructionPointer, caller);
  return true;
}

bool Unwinder::StepWithoutRules(ModuleMap& map, const Frame& frame, StackMemory& memory,
                                Registers& registers) {
  const Mapping& mapping = *map.Find(frame.lookup_address());
  FollowedCode* const code = tables_.CodeOf(map.pid(), mapping);
  if (code == nullptr) {
    if (mapping.table == nullptr && FollowGeneratedCode(map, frame, memory, registers)) return true;
    return HasFramePointer(registers) && StepByFramePointer(map, memory, registers);
  }
  if (FollowCode(*code, map, frame, memory, registers)) return true;
  // Go's functions that call others keep a frame pointer.
  if (code->code().is_go && !frame.exact && HasFramePointer(registers) &&
      StepByFramePointer(map, memory, registers)) {
    return true;
  }
  const std::uint64_t stack = registers[kStackPointer];
  // A function that never returns cannot be followed to its return; the one that calls main has the
  // program's first instructions as its caller.
  const std::uint64_t end = stack + kMostEntryFrameBytes;
  const std::uint64_t first = FirstReturnAddress(map, memory, stack, end);
  std::uint64_t caller = 0;
  if (first < end && memory.Read(first, caller) && IsEntry(map, caller)) {
    registers = Registers();
    registers.Set(kStackPointer, first + kWord);
    registers.Set(kInstructionPointer, caller);
    return true;
  }
  // Only if the frame pointer cannot belong to an outer function.
  return HasFramePointer(registers) && first >= std::min(end, registers[kFramePointer] + kWord) &&
         StepByFramePointer(map, memory, registers);
}

void Unwinder::Unwind(ModuleMap& map, const Registers& start, StackMemory& memory, Stack& stack) {
  stack.frames.clear();
  stack.end = StackEnd::kBroken;
  if (!start.Has(kInstructionPointer) || !start.Has(kStackPointer)) return;
  Registers registers = start;
  Frame frame{.address = registers[kInstructionPointer], .exact = true, .guessed = false};
  for (;;) {
    // A copy: looking up other addresses may replace it.
    const Known known = RuleFor(map, frame.lookup_address());
    // The value on the stack is not a return address.
    if (!known.mapped && !frame.exact) return;
    stack.frames.push_back(frame);
    if (stack.frames.size() == kMostFrames) {
      stack.end = StackEnd::kTooDeep;
      return;
    }
    Step step = Step::kNoTable;
    frame.guessed = known.rule == nullptr;
    if (known.rule != nullptr) {
      step = Apply(*known.table, *known.rule, memory, registers);
    } else if (known.mapped && StepWithoutRules(map, frame, memory, registers)) {
      step = Step::kFound;
    }
    if (step != Step::kFound || registers[kInstructionPointer] == 0) {
      stack.end = EndOf(step);
      return;
    }
    frame.address = registers[kInstructionPointer];
    frame.exact = known.rule != nullptr && known.rule->signal_frame;
  }
}

}  // namespace fieldcost::unwind
