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

// Evaluates an untrusted DWARF expression (DWARF 5 §2.5.1), with `initial` on the stack if set:
// arithmetic, registers and memory. Returns nullopt if it uses loops, branches, types or calls, an
// unknown register, or memory that cannot be read, or exceeds the limits above.
std::optional<std::uint64_t> EvaluateExpression(std::span<const std::uint8_t> expression,
                                                const Registers& registers, StackMemory& memory,
                                                std::optional<std::uint64_t> initial);

}  // namespace fieldcost::unwind
