#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/unwind/byte_cursor.h"
#include "common/unwind/cfi_table.h"

namespace fieldcost::unwind {

// Where one register is; without a value it is as it was.
struct RegisterRule {
  std::optional<CfiTable::Place> place;
  std::int32_t offset = 0;
  bool operator==(const RegisterRule&) const = default;
};

// What call frame instructions say at one address.
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

// Takes what an entry's instructions say.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // From `address` on this holds. False: no more can be taken.
  virtual bool Row(std::uint64_t address, const FrameState& state) = 0;
  // Keeps an untrusted expression; nullopt: there is no room for it.
  virtual std::optional<std::int32_t> Expression(std::span<const std::uint8_t> bytes) = 0;
};

// The instructions of a CIE, into `common.initial`. False: not understood.
bool RunInitialInstructions(std::span<const std::uint8_t> untrusted_program, FrameCommon& common,
                            FrameSink& sink);

struct FrameRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;    // behind it
  std::uint64_t place = 0;  // the address of the program's first byte
};

// The instructions of an FDE: gives rows from `range.start` on, ascending, below `range.end`.
// False: something was not understood, or not taken; the rows before it were given, and of what
// follows nothing is known, from the returned address on.
struct FrameOutcome {
  bool understood = true;
  std::uint64_t reached = 0;
};
FrameOutcome RunFrameInstructions(std::span<const std::uint8_t> untrusted_program,
                                  const FrameCommon& common, const FrameRange& range,
                                  FrameSink& sink);

}  // namespace fieldcost::unwind
