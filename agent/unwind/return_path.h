#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/unwind/registers.h"

namespace fieldcost::unwind {

// The executable bytes of a module, from `address` (in the file's address space) on. Untrusted.
struct Code {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  // Made by Go's compiler: there may be padding after calls that return, and a function begins
  // again after its stack has been enlarged.
  bool is_go = false;

  // The bytes from this address on; empty if the address lies outside.
  std::span<const std::uint8_t> From(std::uint64_t at) const;
};

// A place in the stack: the current value of a register plus an offset.
struct StackPlace {
  std::uint8_t base = kRsp;  // kRsp or kRbp
  std::int32_t offset = 0;   // bytes
  bool operator==(const StackPlace&) const = default;
};

// How to find a function's caller from the registers at one of the function's instructions.
struct ReturnPath {
  // How the function leaves a callee-saved register when it returns.
  enum class Fate : std::uint8_t { kKept, kRestored, kLost };
  struct Preserved {
    Fate fate = Fate::kKept;
    StackPlace place;  // of kRestored
  };
  static constexpr std::array<std::uint8_t, 6> kPreserved = {kRbx, kRbp, 12, 13, 14, kR15};

  StackPlace return_address;
  std::array<Preserved, kPreserved.size()> preserved;  // as in kPreserved
};

// Follows the instructions of a function without call frame information from `address` to its
// return, along each side of its branches until a return is found. Nothing is executed. Returns
// nullopt if no return is found or the stack pointer is computed from data. `after_call` states
// that `address` is a return address. Pure; decodes at most kMostInstructions.
inline constexpr std::size_t kMostInstructions = 4096;
std::optional<ReturnPath> FindReturnPath(const Code& code, std::uint64_t address, bool after_call);

// Returns whether a call instruction ends at the address, so that it can be a return address.
bool IsAfterCall(const Code& code, std::uint64_t address);

// A module's code, with the paths that have been found in it. Not thread-safe.
class FollowedCode {
 public:
  explicit FollowedCode(Code code) : code_(std::move(code)) {}

  const std::optional<ReturnPath>& PathFrom(std::uint64_t address, bool after_call);
  const Code& code() const { return code_; }

 private:
  Code code_;
  std::unordered_map<std::uint64_t, std::optional<ReturnPath>> paths_;  // by address
};

}  // namespace fieldcost::unwind
