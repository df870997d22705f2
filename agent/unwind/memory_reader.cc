#include "agent/unwind/memory_reader.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "agent/unwind/x86_64/unwind_machine.h"

namespace fieldcost::unwind {
namespace {

constexpr std::size_t kMostPagesAtOnce = 64;
constexpr std::size_t kFirstChunkBytes = std::size_t{64} << 10;
constexpr std::size_t kMostChunkBytes = std::size_t{512} << 10;

}  // namespace

std::size_t ProcessMemory::Read(std::uint64_t address, void* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size && address <= UINT64_MAX - size) {
    // One part per page, so that everything before an unreadable page is read.
    std::array<iovec, kMostPagesAtOnce> parts;
    std::size_t used = 0;
    std::size_t asked = 0;
    for (; used < parts.size() && done + asked < size; ++used) {
      const std::uint64_t at = address + done + asked;
      const std::size_t part =
          std::min<std::size_t>(size - done - asked, kPageBytes - at % kPageBytes);
      parts[used] = {.iov_base = reinterpret_cast<void*>(at), .iov_len = part};
      asked += part;
    }
    const iovec local{.iov_base = static_cast<char*>(to) + done, .iov_len = asked};
    const ssize_t got = ::process_vm_readv(pid_, &local, 1, parts.data(), used, 0);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < asked) break;
  }
  return done;
}

std::size_t MemoryAt::Read(std::uint64_t address, void* to, std::size_t size) {
  const std::uint64_t offset = address - base_;
  if (offset >= bytes_.size()) return 0;
  const std::size_t there = std::min<std::size_t>(size, bytes_.size() - offset);
  std::memcpy(to, bytes_.data() + offset, there);
  return there;
}

bool StackMemory::Read(std::uint64_t address, std::uint64_t& value) {
  const std::uint64_t offset = address - base_;
  if (copy_.size() >= sizeof value && offset <= copy_.size() - sizeof value) {
    std::memcpy(&value, copy_.data() + offset, sizeof value);
    return true;
  }
  if (reader_ != nullptr && !seam_broken_ && ReadBehind(address, value)) return true;
  if (aside_ != nullptr && aside_->Read(address, &value, sizeof value) == sizeof value) return true;
  ++failures_;
  return false;
}

bool StackMemory::ReadBehind(std::uint64_t address, std::uint64_t& value) {
  const auto end = [&] { return window_base_ + window_.size(); };
  if (window_.empty() && !copy_.empty()) {
    const std::size_t seam = std::min(kSeamBytes, copy_.size());
    const auto tail = copy_.last(seam);
    window_base_ = base_ + copy_.size() - seam;
    window_.assign(tail.begin(), tail.end());
  }
  const bool near = !window_.empty() && address >= window_base_ && address < UINT64_MAX - 8 &&
                    address + sizeof value <= window_base_ + kMostFetchedBytes;
  if (!near) {
    // This is another stack, of a signal handler or a fibre: nothing ties it to the copy.
    if (thread_ == Thread::kRunning) return false;
    window_.clear();
    window_base_ = address;
  }
  while (end() < address + sizeof value) {
    if (!Extend()) return false;
  }
  std::memcpy(&value, window_.data() + (address - window_base_), sizeof value);
  return true;
}

bool StackMemory::Extend() {
  const std::size_t seam = std::min(kSeamBytes, window_.size());
  const std::size_t old_size = window_.size();
  const std::size_t chunk = std::clamp(2 * old_size, kFirstChunkBytes, kMostChunkBytes);
  std::vector<std::uint8_t> read(seam + chunk);
  read.resize(reader_->Read(window_base_ + old_size - seam, read.data(), read.size()));
  if (read.size() <= seam) return false;
  if (!std::equal(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(seam),
                  window_.end() - static_cast<std::ptrdiff_t>(seam))) {
    seam_broken_ = true;
    return false;
  }
  window_.insert(window_.end(), read.begin() + static_cast<std::ptrdiff_t>(seam), read.end());
  return true;
}

}  // namespace fieldcost::unwind
