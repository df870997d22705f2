// Follows the machine's code to its return (agent/unwind/return_path.h).
#include "agent/unwind/return_path.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace fieldcost::unwind {
namespace {

constexpr std::int32_t kWordBytes = sizeof(std::uint64_t);
// Stacks are smaller than this; larger offsets do not belong to frames.
constexpr std::int32_t kMostOffset = 1 << 26;
constexpr std::size_t kMostPaths = std::size_t{1} << 16;
constexpr std::size_t kMostCallBytes = 8;

struct Instruction {
  ZydisDecodedInstruction head;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;

  std::span<const ZydisDecodedOperand> visible() const {
    return std::span(operands).first(head.operand_count_visible);
  }
};

bool Decode(std::span<const std::uint8_t> bytes, Instruction& instruction) {
  static const ZydisDecoder kDecoder = [] {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return decoder;
  }();
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&kDecoder, bytes.data(), bytes.size(),
                                             &instruction.head, instruction.operands.data()));
}

// The index in ReturnPath::kPreserved; its size for other registers.
std::size_t PreservedIndex(ZydisRegister name) {
  switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name)) {
    case ZYDIS_REGISTER_RBX:
      return 0;
    case ZYDIS_REGISTER_RBP:
      return 1;
    case ZYDIS_REGISTER_R12:
      return 2;
    case ZYDIS_REGISTER_R13:
      return 3;
    case ZYDIS_REGISTER_R14:
      return 4;
    case ZYDIS_REGISTER_R15:
      return 5;
    default:
      return ReturnPath::kPreserved.size();
  }
}
constexpr std::size_t kRbpIndex = 1;

bool IsRegister(const ZydisDecodedOperand& operand, ZydisRegister name) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == name;
}

// The value of a callee-saved register, relative to its value at the first instruction.
struct Value {
  enum class Kind : std::uint8_t { kSame, kLoaded, kAddress, kUnknown };
  Kind kind = Kind::kSame;
  StackPlace place;  // kLoaded: the initial content of this place; kAddress: the place's address
};

struct Pushed {
  StackPlace place;
  Value value;
};

// The state at the current end of a path.
struct State {
  std::uint64_t address = 0;
  bool after_call = false;
  bool has_frame = false;  // the function has moved the stack pointer to the end of its frame
  std::optional<StackPlace> stack = StackPlace();  // the stack pointer; nullopt: not known
  std::array<Value, ReturnPath::kPreserved.size()> values;
  std::vector<Pushed> pushed;
};

std::optional<StackPlace> Moved(const std::optional<StackPlace>& place, std::int64_t by) {
  if (!place || by > kMostOffset || by < -kMostOffset) return std::nullopt;
  const std::int64_t offset = place->offset + by;
  if (offset > kMostOffset || offset < -kMostOffset) return std::nullopt;
  return StackPlace{.base = place->base, .offset = static_cast<std::int32_t>(offset)};
}

class Search {
 public:
  explicit Search(const Code& code) : code_(code) {}

  std::optional<ReturnPath> From(std::uint64_t address, bool after_call, bool has_frame);

 private:
  enum class Next { kOn, kEnds, kReturns };

  std::optional<ReturnPath> Follow(State state);
  // Applies the instruction to the state, whose address is already that of the next instruction.
  Next Run(const Instruction& instruction, State& state);
  Next Jump(const Instruction& instruction, State& state);
  void Push(const Instruction& instruction, State& state);
  void Pop(const Instruction& instruction, State& state);
  void Leave(State& state);
  bool SetsStackPointer(const Instruction& instruction, State& state);
  bool SetsPreserved(const Instruction& instruction, State& state);

  const Code& code_;
  std::size_t decoded_ = 0;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<State> others_;            // the other sides of branches
  std::optional<ReturnPath> tail_call_;  // by a jump to a target that only the program knows
};

// Returns the place that a register points to.
std::optional<StackPlace> PlaceIn(ZydisRegister name, const State& state) {
  if (name == ZYDIS_REGISTER_RSP) return state.stack;
  if (name != ZYDIS_REGISTER_RBP) return std::nullopt;
  const Value& value = state.values[kRbpIndex];
  if (value.kind == Value::Kind::kAddress) return value.place;
  if (value.kind == Value::Kind::kSame) return StackPlace{.base = kRbp, .offset = 0};
  return std::nullopt;
}

// Returns the place of a memory operand that consists of a register and a constant.
std::optional<StackPlace> PlaceOf(const ZydisDecodedOperand& operand, const State& state) {
  const ZydisDecodedOperandMem& memory = operand.mem;
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || memory.index != ZYDIS_REGISTER_NONE ||
      memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS) {
    return std::nullopt;
  }
  return Moved(PlaceIn(memory.base, state), memory.disp.has_displacement ? memory.disp.value : 0);
}

Value ValueAt(const StackPlace& place, const State& state) {
  const auto found = std::find_if(state.pushed.rbegin(), state.pushed.rend(),
                                  [&](const Pushed& pushed) { return pushed.place == place; });
  if (found != state.pushed.rend()) return found->value;
  // Memory below the first instruction's stack pointer may change at any time.
  if (place.base == kRsp && place.offset < 0) return {.kind = Value::Kind::kUnknown, .place = {}};
  return {.kind = Value::Kind::kLoaded, .place = place};
}

void Load(std::size_t index, const std::optional<StackPlace>& place, State& state) {
  state.values[index] =
      place ? ValueAt(*place, state) : Value{.kind = Value::Kind::kUnknown, .place = {}};
}

std::optional<ReturnPath> PathOf(const State& state) {
  if (!state.stack || (state.stack->base == kRsp && state.stack->offset < 0)) return std::nullopt;
  ReturnPath path{.return_address = *state.stack, .preserved = {}};
  for (std::size_t i = 0; i < path.preserved.size(); ++i) {
    const Value& value = state.values[i];
    ReturnPath::Preserved& preserved = path.preserved[i];
    if (value.kind == Value::Kind::kSame) continue;
    preserved.fate =
        value.kind == Value::Kind::kLoaded ? ReturnPath::Fate::kRestored : ReturnPath::Fate::kLost;
    preserved.place = value.place;
  }
  return path;
}

void Search::Push(const Instruction& instruction, State& state) {
  state.stack = Moved(state.stack, -std::int64_t{instruction.head.operand_width / 8});
  if (!state.stack || instruction.head.mnemonic != ZYDIS_MNEMONIC_PUSH) return;
  const ZydisDecodedOperand& what = instruction.operands[0];
  if (what.type != ZYDIS_OPERAND_TYPE_REGISTER) return;
  const std::size_t index = PreservedIndex(what.reg.value);
  if (index < state.values.size()) state.pushed.push_back({*state.stack, state.values[index]});
}

void Search::Pop(const Instruction& instruction, State& state) {
  const std::optional<StackPlace> from = state.stack;
  state.stack = Moved(state.stack, instruction.head.operand_width / 8);
  if (instruction.head.mnemonic != ZYDIS_MNEMONIC_POP) return;
  const ZydisDecodedOperand& to = instruction.operands[0];
  if (to.type != ZYDIS_OPERAND_TYPE_REGISTER) return;
  const std::size_t index = PreservedIndex(to.reg.value);
  if (index < state.values.size()) Load(index, from, state);
  if (to.reg.value == ZYDIS_REGISTER_RSP) state.stack = std::nullopt;
}

void Search::Leave(State& state) {
  const std::optional<StackPlace> frame = PlaceIn(ZYDIS_REGISTER_RBP, state);
  Load(kRbpIndex, frame, state);
  state.stack = Moved(frame, kWordBytes);
}

bool Search::SetsStackPointer(const Instruction& instruction, State& state) {
  const auto operands = instruction.visible();
  if (operands.empty() || !IsRegister(operands[0], ZYDIS_REGISTER_RSP)) return false;
  const bool is_constant = operands.size() > 1 && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (instruction.head.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
      state.stack = is_constant ? Moved(state.stack, operands[1].imm.value.s) : std::nullopt;
      return true;
    case ZYDIS_MNEMONIC_SUB:
      if (!is_constant || operands[1].imm.value.s < -kMostOffset) state.stack = std::nullopt;
      if (is_constant && state.stack) state.stack = Moved(state.stack, -operands[1].imm.value.s);
      return true;
    case ZYDIS_MNEMONIC_LEA:
      state.stack = PlaceOf(operands[1], state);
      return true;
    case ZYDIS_MNEMONIC_MOV:
      state.stack = operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER
                        ? PlaceIn(operands[1].reg.value, state)
                        : std::nullopt;
      return true;
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST:
      return true;
    default:
      state.stack = std::nullopt;
      return true;
  }
}

bool Search::SetsPreserved(const Instruction& instruction, State& state) {
  const auto operands = instruction.visible();
  if (operands.size() != 2 || operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
      operands[0].size != 64) {
    return false;
  }
  const std::size_t index = PreservedIndex(operands[0].reg.value);
  if (index == state.values.size()) return false;
  if (instruction.head.mnemonic == ZYDIS_MNEMONIC_MOV &&
      operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
    Load(index, PlaceOf(operands[1], state), state);
    return true;
  }
  std::optional<StackPlace> place;
  if (instruction.head.mnemonic == ZYDIS_MNEMONIC_MOV &&
      IsRegister(operands[1], ZYDIS_REGISTER_RSP)) {
    place = state.stack;
  } else if (instruction.head.mnemonic == ZYDIS_MNEMONIC_LEA) {
    place = PlaceOf(operands[1], state);
  }
  if (!place) return false;
  state.values[index] = {.kind = Value::Kind::kAddress, .place = *place};
  return true;
}

Search::Next Search::Jump(const Instruction& instruction, State& state) {
  const ZydisDecodedOperand& to = instruction.operands[0];
  if (to.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    if (!tail_call_) tail_call_ = PathOf(state);
    return Next::kEnds;
  }
  const std::uint64_t target = state.address + static_cast<std::uint64_t>(to.imm.value.s);
  if (instruction.head.meta.category == ZYDIS_CATEGORY_COND_BR) {
    others_.push_back(state);
    others_.back().address = target;
  } else {
    state.address = target;
  }
  return Next::kOn;
}

// Marks the registers that the instruction writes as unknown.
void ForgetWritten(const Instruction& instruction, State& state) {
  for (const ZydisDecodedOperand& operand :
       std::span(instruction.operands).first(instruction.head.operand_count)) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
        (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) {
      continue;
    }
    const std::size_t index = PreservedIndex(operand.reg.value);
    if (index < state.values.size()) {
      state.values[index] = {.kind = Value::Kind::kUnknown, .place = {}};
    }
    if (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) ==
        ZYDIS_REGISTER_RSP) {
      state.stack = std::nullopt;
    }
  }
}

Search::Next Search::Run(const Instruction& instruction, State& state) {
  const bool was_call = std::exchange(state.after_call, false);
  switch (instruction.head.meta.category) {
    case ZYDIS_CATEGORY_RET:
      return Next::kReturns;
    case ZYDIS_CATEGORY_CALL:
      state.after_call = true;
      return Next::kOn;
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR:
      return Jump(instruction, state);
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
      // Padding after a call: the called function does not return.
      return was_call && instruction.head.length > 1 && !code_.is_go ? Next::kEnds : Next::kOn;
    case ZYDIS_CATEGORY_PUSH:
      Push(instruction, state);
      return Next::kOn;
    case ZYDIS_CATEGORY_POP:
      Pop(instruction, state);
      return Next::kOn;
    default:
      break;
  }
  switch (instruction.head.mnemonic) {
    case ZYDIS_MNEMONIC_LEAVE:
      Leave(state);
      return Next::kOn;
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_ENTER:
      return Next::kEnds;
    default:
      break;
  }
  const std::optional<StackPlace> before = state.stack;
  if (SetsStackPointer(instruction, state)) {
    const bool begins_frame = before && state.stack && state.stack->offset < before->offset;
    // A second frame: the path has reached the function's beginning again.
    const bool begins_again = begins_frame && std::exchange(state.has_frame, true);
    return begins_again && code_.is_go ? Next::kEnds : Next::kOn;
  }
  if (!SetsPreserved(instruction, state)) ForgetWritten(instruction, state);
  return Next::kOn;
}

std::optional<ReturnPath> Search::Follow(State state) {
  while (decoded_ < kMostInstructions && seen_.insert(state.address).second) {
    const auto bytes = code_.From(state.address);
    Instruction instruction;
    if (bytes.empty() || !Decode(bytes, instruction)) return std::nullopt;
    ++decoded_;
    state.address += instruction.head.length;
    const Next next = Run(instruction, state);
    if (next == Next::kReturns) return PathOf(state);
    if (next == Next::kEnds) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<ReturnPath> Search::From(std::uint64_t address, bool after_call, bool has_frame) {
  others_.push_back({.address = address,
                     .after_call = after_call,
                     .has_frame = has_frame,
                     .values = {},
                     .pushed = {}});
  while (!others_.empty()) {
    State state = std::move(others_.back());
    others_.pop_back();
    if (auto path = Follow(std::move(state))) return path;
  }
  return tail_call_;
}

}  // namespace

std::span<const std::uint8_t> Code::From(std::uint64_t at) const {
  if (at < address || at - address >= bytes.size()) return {};
  return std::span(bytes).subspan(at - address);
}

std::optional<ReturnPath> FindReturnPath(const Code& code, std::uint64_t address, bool after_call) {
  if (code.is_go) {
    if (auto path = Search(code).From(address, after_call, true)) return path;
  }
  return Search(code).From(address, after_call, false);
}

bool IsAfterCall(const Code& code, std::uint64_t address) {
  for (std::size_t size = 2; size <= kMostCallBytes; ++size) {
    const auto bytes = code.From(address - size);
    Instruction instruction;
    if (bytes.size() >= size && Decode(bytes.first(size), instruction) &&
        instruction.head.length == size && instruction.head.meta.category == ZYDIS_CATEGORY_CALL) {
      return true;
    }
  }
  return false;
}

const std::optional<ReturnPath>& FollowedCode::PathFrom(std::uint64_t address, bool after_call) {
  if (paths_.size() >= kMostPaths) paths_.clear();
  const auto [found, is_new] = paths_.try_emplace(address);
  if (is_new) found->second = FindReturnPath(code_, address, after_call);
  return found->second;
}

}  // namespace fieldcost::unwind
