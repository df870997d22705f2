#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fieldcost::unwind {

// The memory of a thread whose stack is unwound.
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  // Reads up to `size` bytes at `address` into `to`. Returns how many were read; 0 if none.
  virtual std::size_t Read(std::uint64_t address, void* to, std::size_t size) = 0;
};

// Reads a process's memory by process_vm_readv(2): needs the right to ptrace it, and does not stop
// it.
class ProcessMemory : public MemoryReader {
 public:
  explicit ProcessMemory(pid_t pid) : pid_(pid) {}
  std::size_t Read(std::uint64_t address, void* to, std::size_t size) override;

 private:
  pid_t pid_;
};

// Bytes that were read from address `base` on. REQUIRES: they outlive this.
class MemoryAt : public MemoryReader {
 public:
  MemoryAt(std::uint64_t base, std::span<const std::uint8_t> bytes) : base_(base), bytes_(bytes) {}
  std::size_t Read(std::uint64_t address, void* to, std::size_t size) override;

 private:
  std::uint64_t base_;
  std::span<const std::uint8_t> bytes_;
};

// A thread's stack: a copy of its innermost bytes, which the kernel made at the instant of a
// sample, and the memory beyond the copy, which is read later when it is needed.
//
// If the thread keeps running, that memory may have changed. So a read begins kSeamBytes before the
// end of the copy, and is used only if these bytes are unchanged: if the thread had returned from
// the frames beyond the seam and made other calls, the seam would hold other return addresses and
// locals as well. This is strong evidence, not a proof. Not thread-safe.
class StackMemory {
 public:
  static constexpr std::size_t kSeamBytes = 512;
  static constexpr std::size_t kMostFetchedBytes = std::size_t{8} << 20;

  enum class Thread { kRunning, kStopped };

  // `copy` may be empty if the thread is stopped. If `reader` is null, there is only the copy.
  // `aside`, which may be null, is asked for memory outside the stack, and provides only memory
  // that is certainly unchanged. REQUIRES: all of them outlive this.
  StackMemory(std::uint64_t base, std::span<const std::uint8_t> copy, MemoryReader* reader,
              Thread thread = Thread::kRunning, MemoryReader* aside = nullptr)
      : base_(base), copy_(copy), reader_(reader), aside_(aside), thread_(thread) {}

  // Reads the 8 bytes at `address`; false if they cannot be read.
  bool Read(std::uint64_t address, std::uint64_t& value);

  // Reads memory outside the stack, such as code, in its present state: it may have changed since
  // the sample. Returns the number of bytes read; 0 without a reader.
  std::size_t ReadNow(std::uint64_t address, std::span<std::uint8_t> to) {
    return reader_ == nullptr ? 0 : reader_->Read(address, to.data(), to.size());
  }

  // The number of reads that failed.
  std::size_t failures() const { return failures_; }
  // Returns whether memory beyond the copy was read and discarded.
  bool seam_broken() const { return seam_broken_; }
  std::size_t fetched_bytes() const { return window_.size(); }

 private:
  bool ReadBehind(std::uint64_t address, std::uint64_t& value);
  bool Extend();

  std::uint64_t base_;
  std::span<const std::uint8_t> copy_;
  MemoryReader* reader_;
  MemoryReader* aside_;
  Thread thread_;
  bool seam_broken_ = false;
  std::size_t failures_ = 0;
  std::uint64_t window_base_ = 0;
  std::vector<std::uint8_t> window_;  // the bytes read, including the seam
};

}  // namespace fieldcost::unwind
