#include "agent/unwind/cfi_program.h"

#include <limits>

#include "agent/unwind/dwarf_numbers.h"
#include "agent/unwind/encoded_pointer.h"

namespace fieldcost::unwind {
namespace {

using Cfa = CfiTable::Cfa;
using Place = CfiTable::Place;

// Compilers remember one or two states.
constexpr std::size_t kMostRemembered = 32;

class Program {
 public:
  Program(std::span<const std::uint8_t> bytes, const FrameCommon& common, const FrameRange* range,
          const FrameState& state, FrameSink& sink)
      : cursor_(bytes),
        common_(common),
        range_(range),
        location_(range == nullptr ? 0 : range->start),
        state_(state),
        sink_(sink) {}

  bool Run();
  const FrameState& state() const { return state_; }
  std::uint64_t location() const { return location_; }

 private:
  bool Step(std::uint8_t instruction);
  bool Advance(std::uint64_t units);
  bool MoveTo(std::uint64_t address);
  bool StepCfa(std::uint8_t instruction);
  bool StepRegister(std::uint8_t instruction);
  bool StepExpression(std::uint8_t instruction);

  bool SetCfaOffset(std::int64_t offset);
  bool SetCfaRegister(std::uint64_t number);
  bool SetRegister(std::uint64_t number, std::optional<Place> place, std::int64_t offset);
  bool Restore(std::uint64_t number);
  std::int64_t Factored(std::uint64_t number) const {
    return static_cast<std::int64_t>(number * static_cast<std::uint64_t>(common_.data_factor));
  }
  std::int64_t FactoredSigned() { return Factored(static_cast<std::uint64_t>(cursor_.Sleb128())); }

  ByteCursor cursor_;
  const FrameCommon& common_;
  const FrameRange* range_;  // null for a CIE
  std::uint64_t location_;
  bool past_end_ = false;
  FrameState state_;
  std::vector<FrameState> remembered_;
  FrameSink& sink_;
};

bool Program::Run() {
  while (cursor_.left() > 0 && !past_end_) {
    const auto instruction = cursor_.Read<std::uint8_t>();
    if (!Step(instruction) || !cursor_.ok()) return false;
  }
  return past_end_ || range_ == nullptr || sink_.Row(location_, state_);
}

bool Program::Step(std::uint8_t instruction) {
  // Three instructions have their first operand in the low six bits.
  constexpr std::uint8_t kOperand = 0x3f;
  switch (instruction & ~kOperand) {
    case kCfaAdvanceLoc:
      return Advance(instruction & kOperand);
    case kCfaOffset:
      return SetRegister(instruction & kOperand, Place::kAtCfa, Factored(cursor_.Uleb128()));
    case kCfaRestore:
      return Restore(instruction & kOperand);
    default:
      break;
  }
  switch (instruction) {
    case kCfaNop:
      return true;
    case kCfaGnuArgsSize:
      cursor_.Uleb128();
      return true;
    case kCfaAdvanceLoc1:
      return Advance(cursor_.Read<std::uint8_t>());
    case kCfaAdvanceLoc2:
      return Advance(cursor_.Read<std::uint16_t>());
    case kCfaAdvanceLoc4:
      return Advance(cursor_.Read<std::uint32_t>());
    case kCfaSetLoc: {
      const std::uint64_t place = range_ == nullptr ? 0 : range_->place + cursor_.position();
      const auto address = ReadEncodedPointer(cursor_, common_.pointer_encoding, place, 0);
      return address && MoveTo(*address);
    }
    case kCfaRememberState:
      if (remembered_.size() == kMostRemembered) return false;
      remembered_.push_back(state_);
      return true;
    case kCfaRestoreState:
      if (remembered_.empty()) return false;
      state_ = remembered_.back();
      remembered_.pop_back();
      return true;
    default:
      return StepCfa(instruction);
  }
}

bool Program::Advance(std::uint64_t units) {
  if (common_.code_factor > std::numeric_limits<std::uint32_t>::max()) return false;
  return MoveTo(location_ + units * common_.code_factor);
}

bool Program::MoveTo(std::uint64_t address) {
  if (range_ == nullptr || address < location_) return false;
  if (address == location_) return true;
  if (!sink_.Row(location_, state_)) return false;
  past_end_ = address >= range_->end;
  location_ = address;
  return true;
}

bool Program::StepCfa(std::uint8_t instruction) {
  switch (instruction) {
    case kCfaDefCfa: {
      const std::uint64_t number = cursor_.Uleb128();
      return SetCfaRegister(number) && SetCfaOffset(static_cast<std::int64_t>(cursor_.Uleb128()));
    }
    case kCfaDefCfaSf: {
      const std::uint64_t number = cursor_.Uleb128();
      return SetCfaRegister(number) && SetCfaOffset(FactoredSigned());
    }
    case kCfaDefCfaRegister:
      return state_.cfa == Cfa::kRegister && SetCfaRegister(cursor_.Uleb128());
    case kCfaDefCfaOffset:
      return state_.cfa == Cfa::kRegister &&
             SetCfaOffset(static_cast<std::int64_t>(cursor_.Uleb128()));
    case kCfaDefCfaOffsetSf:
      return state_.cfa == Cfa::kRegister && SetCfaOffset(FactoredSigned());
    default:
      return StepRegister(instruction);
  }
}

bool Program::StepRegister(std::uint8_t instruction) {
  std::uint64_t number = 0;
  switch (instruction) {
    case kCfaOffsetExtended:
      number = cursor_.Uleb128();
      return SetRegister(number, Place::kAtCfa, Factored(cursor_.Uleb128()));
    case kCfaOffsetExtendedSf:
      number = cursor_.Uleb128();
      return SetRegister(number, Place::kAtCfa, FactoredSigned());
    case kCfaGnuNegativeOffsetExtended:
      number = cursor_.Uleb128();
      return SetRegister(number, Place::kAtCfa, Factored(0 - cursor_.Uleb128()));
    case kCfaValOffset:
      number = cursor_.Uleb128();
      return SetRegister(number, Place::kCfaItself, Factored(cursor_.Uleb128()));
    case kCfaValOffsetSf:
      number = cursor_.Uleb128();
      return SetRegister(number, Place::kCfaItself, FactoredSigned());
    case kCfaRegister: {
      number = cursor_.Uleb128();
      const std::uint64_t other = cursor_.Uleb128();
      return other >= kRegisters
                 ? SetRegister(number, Place::kNowhere, 0)
                 : SetRegister(number, Place::kRegister, static_cast<std::int64_t>(other));
    }
    case kCfaRestoreExtended:
      return Restore(cursor_.Uleb128());
    case kCfaUndefined:
      return SetRegister(cursor_.Uleb128(), Place::kNowhere, 0);
    case kCfaSameValue:
      return SetRegister(cursor_.Uleb128(), std::nullopt, 0);
    default:
      return StepExpression(instruction);
  }
}

bool Program::StepExpression(std::uint8_t instruction) {
  if (instruction != kCfaDefCfaExpression && instruction != kCfaExpression &&
      instruction != kCfaValExpression) {
    return false;
  }
  const std::uint64_t number = instruction == kCfaDefCfaExpression ? 0 : cursor_.Uleb128();
  const auto bytes = cursor_.Take(cursor_.Uleb128());
  if (!cursor_.ok()) return false;
  const auto offset = sink_.Expression(bytes);
  if (!offset) return false;
  if (instruction == kCfaDefCfaExpression) {
    state_.cfa = Cfa::kExpression;
    state_.cfa_register = 0;
    state_.cfa_offset = *offset;
    return true;
  }
  return SetRegister(
      number, instruction == kCfaExpression ? Place::kAtExpression : Place::kExpressionItself,
      *offset);
}

bool Program::SetCfaOffset(std::int64_t offset) {
  state_.cfa_offset = static_cast<std::int32_t>(offset);
  return state_.cfa_offset == offset;
}

bool Program::SetCfaRegister(std::uint64_t number) {
  if (number >= kRegisters) return false;
  state_.cfa = Cfa::kRegister;
  state_.cfa_register = static_cast<std::uint8_t>(number);
  return true;
}

// Other registers than integer ones are ignored.
bool Program::SetRegister(std::uint64_t number, std::optional<Place> place, std::int64_t offset) {
  if (number >= kRegisters) return true;
  const auto narrow = static_cast<std::int32_t>(offset);
  state_.registers[number] = {.place = place, .offset = narrow};
  return narrow == offset;
}

bool Program::Restore(std::uint64_t number) {
  if (number < kRegisters) state_.registers[number] = common_.initial.registers[number];
  return range_ != nullptr;
}

}  // namespace

bool RunInitialInstructions(std::span<const std::uint8_t> untrusted_program, FrameCommon& common,
                            FrameSink& sink) {
  Program program(untrusted_program, common, nullptr, FrameState(), sink);
  if (!program.Run()) return false;
  common.initial = program.state();
  return true;
}

FrameOutcome RunFrameInstructions(std::span<const std::uint8_t> untrusted_program,
                                  const FrameCommon& common, const FrameRange& range,
                                  FrameSink& sink) {
  Program program(untrusted_program, common, &range, common.initial, sink);
  const bool understood = program.Run();
  return {.understood = understood, .reached = program.location()};
}

}  // namespace fieldcost::unwind
