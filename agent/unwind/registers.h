#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fieldcost::unwind {

// Registers by their DWARF numbers (System V ABI for AMD64, figure 3.36).
inline constexpr std::size_t kRax = 0;
inline constexpr std::size_t kRdx = 1;
inline constexpr std::size_t kRcx = 2;
inline constexpr std::size_t kRbx = 3;
inline constexpr std::size_t kRsi = 4;
inline constexpr std::size_t kRdi = 5;
inline constexpr std::size_t kRbp = 6;
inline constexpr std::size_t kRsp = 7;
inline constexpr std::size_t kR8 = 8;
inline constexpr std::size_t kR15 = 15;
inline constexpr std::size_t kRip = 16;
inline constexpr std::size_t kRegisters = 17;

// The known values of a thread's registers. A plain value.
class Registers {
 public:
  bool Has(std::size_t number) const { return number < kRegisters && (known_ >> number & 1) != 0; }
  // Returns 0 if the register is unknown. REQUIRES: number < kRegisters.
  std::uint64_t operator[](std::size_t number) const { return values_[number]; }
  // REQUIRES: number < kRegisters.
  void Set(std::size_t number, std::uint64_t value) {
    values_[number] = value;
    known_ |= 1U << number;
  }
  void Forget(std::size_t number) {
    values_[number] = 0;
    known_ &= ~(1U << number);
  }
  // Keeps only the registers that calls preserve, and the frame's location: rbx, rbp, rsp, r12 to
  // r15.
  void ForgetCallerSaved() {
    constexpr std::uint32_t kKept = 1U << kRbx | 1U << kRbp | 1U << kRsp | 0xfU << 12;
    known_ &= kKept;
  }

 private:
  std::array<std::uint64_t, kRegisters> values_{};
  std::uint32_t known_ = 0;
};

}  // namespace fieldcost::unwind
