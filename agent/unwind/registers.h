#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "agent/unwind/x86_64/unwind_machine.h"
#include "common/base/check.h"

namespace fieldcost::unwind {

// The known values of a thread's registers. A plain value.
class Registers {
 public:
  bool Has(std::size_t number) const { return number < kRegisters && (known_ >> number & 1) != 0; }
  // Returns 0 if the register is unknown. REQUIRES: number < kRegisters.
  std::uint64_t operator[](std::size_t number) const {
    FIELDCOST_CHECK(number < kRegisters);
    return values_[number];
  }
  // REQUIRES: number < kRegisters.
  void Set(std::size_t number, std::uint64_t value) {
    FIELDCOST_CHECK(number < kRegisters);
    values_[number] = value;
    known_ |= 1U << number;
  }
  void Forget(std::size_t number) {
    values_[number] = 0;
    known_ &= ~(1U << number);
  }
  // Keeps only the registers that calls preserve, and the frame's location.
  void ForgetCallerSaved() { known_ &= kPreservedByCalls; }

 private:
  std::array<std::uint64_t, kRegisters> values_{};
  std::uint32_t known_ = 0;
};

}  // namespace fieldcost::unwind
