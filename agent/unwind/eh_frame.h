#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/unwind/cfi_program.h"
#include "common/base/check.h"
#include "common/base/result.h"

namespace fieldcost::unwind {

// A function, or part of a function, described by .eh_frame.
struct FrameFunction {
  std::uint64_t start = 0;  // in the file's address space
  std::uint64_t end = 0;    // exclusive
  std::uint32_t common = 0;
  std::uint32_t program = 0;  // offset from the section's first byte
  std::uint32_t program_bytes = 0;
};

// The entries of an .eh_frame section (LSB 5.0 core §10.6.1) in untrusted bytes, up to its
// terminator or the first data that cannot be an entry.
class EhFrame {
 public:
  static constexpr std::size_t kMostFunctions = std::size_t{1} << 22;
  static constexpr std::size_t kMostCommons = std::size_t{1} << 16;

  // `address` is that of the first byte. Expressions of CIEs go to the sink. REQUIRES: the bytes
  // and the sink outlive this; fewer than 2^32 bytes.
  EhFrame(std::span<const std::uint8_t> untrusted_bytes, std::uint64_t address, FrameSink& sink)
      : bytes_(untrusted_bytes), address_(address), sink_(sink) {
    FIELDCOST_CHECK(untrusted_bytes.size() >> 32 == 0);
  }

  // May return kTooLarge.
  Status Read();
  // In the order of the file, without those whose CIE was not understood.
  std::vector<FrameFunction>& functions() { return functions_; }
  std::size_t refused() const { return refused_; }

  bool IsSignalFrame(const FrameFunction& function) const {
    return commons_[function.common].signal_frame;
  }
  // Emits the function's rows below `end`.
  FrameOutcome Run(const FrameFunction& function, std::uint64_t end, FrameSink& sink) const;

 private:
  static constexpr std::uint32_t kRefused = ~std::uint32_t{0};

  void AddFunction(std::size_t entry_end, std::uint64_t common_at, ByteCursor cursor);
  // Returns the index of the CIE at this offset.
  std::uint32_t CommonAt(std::uint64_t offset);
  bool ReadCommon(std::uint64_t offset, FrameCommon& common);
  static bool ReadAugmentation(std::string_view letters, ByteCursor data, FrameCommon& common);

  std::span<const std::uint8_t> bytes_;
  std::uint64_t address_;
  FrameSink& sink_;
  std::vector<FrameCommon> commons_;
  std::unordered_map<std::uint64_t, std::uint32_t> common_at_;
  std::vector<FrameFunction> functions_;
  std::size_t refused_ = 0;
};

}  // namespace fieldcost::unwind
