#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace fieldcost::testing {

// A reference unwinder: elfutils' libdw, for a process that is stopped by ptrace(2).
class LibdwStack {
 public:
  // The current mappings.
  explicit LibdwStack(pid_t pid);
  ~LibdwStack();
  LibdwStack(const LibdwStack&) = delete;
  LibdwStack& operator=(const LibdwStack&) = delete;

  // The stack of the main thread, innermost frame first.
  std::vector<std::uint64_t> Addresses();

 private:
  struct Session;
  pid_t pid_;
  std::unique_ptr<Session> session_;
};

}  // namespace fieldcost::testing
