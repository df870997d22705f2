#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "agent/unwind/memory_reader.h"
#include "agent/unwind/registers.h"

namespace fieldcost::unwind {

inline constexpr std::size_t kMostExpressionBytes = 255;
inline constexpr std::size_t kMostExpressionDepth = 64;

// The value of a DWARF expression (DWARF 5 §2.5.1) of untrusted bytes, with `initial` on the stack
// if there is one: arithmetic, registers and memory. nullopt: no loops, branches, types or calls;
// a register that is not known; memory that is not there; more than the limits above.
std::optional<std::uint64_t> EvaluateExpression(std::span<const std::uint8_t> expression,
                                                const Registers& registers, StackMemory& memory,
                                                std::optional<std::uint64_t> initial);

}  // namespace fieldcost::unwind
