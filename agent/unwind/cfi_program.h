#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/unwind/byte_cursor.h"
#include "agent/unwind/cfi_table.h"

namespace fieldcost::unwind {

// The location of one register; without a value it is unchanged.
struct RegisterRule {
  std::optional<CfiTable::Place> place;
  std::int32_t offset = 0;
  bool operator==(const RegisterRule&) const = default;
};

// The rules that call frame instructions give for one address.
struct FrameState {
  CfiTable::Cfa cfa = CfiTable::Cfa::kNone;
  std::uint8_t cfa_register = 0;
  std::int32_t cfa_offset = 0;
  std::array<RegisterRule, kRegisters> registers;
};

// A common information entry.
struct FrameCommon {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint8_t pointer_encoding = 0;
  bool augmented = false;
  bool signal_frame = false;
  FrameState initial;
};

// Receives the results of an entry's instructions.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // The state is valid from `address` on. Returns false if no more rows can be stored.
  virtual bool Row(std::uint64_t address, const FrameState& state) = 0;
  // Stores an untrusted expression; returns nullopt if there is no room.
  virtual std::optional<std::int32_t> Expression(std::span<const std::uint8_t> bytes) = 0;
};

// Runs the instructions of a CIE into `common.initial`. Returns false if they are not understood.
bool RunInitialInstructions(std::span<const std::uint8_t> untrusted_program, FrameCommon& common,
                            FrameSink& sink);

struct FrameRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;    // exclusive
  std::uint64_t place = 0;  // the address of the program's first byte
};

// Runs the instructions of an FDE: emits rows in ascending order from `range.start` to below
// `range.end`. `understood` is false if an instruction was not understood or a row not accepted;
// the rows before it were emitted, and nothing is known from address `reached` on.
struct FrameOutcome {
  bool understood = true;
  std::uint64_t reached = 0;
};
FrameOutcome RunFrameInstructions(std::span<const std::uint8_t> untrusted_program,
                                  const FrameCommon& common, const FrameRange& range,
                                  FrameSink& sink);

}  // namespace fieldcost::unwind
