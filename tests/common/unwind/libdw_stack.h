#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace fieldcost::testing {

// The peer: stacks of a process that is stopped by ptrace(2), by elfutils' libdw.
class LibdwStack {
 public:
  // What is mapped now.
  explicit LibdwStack(pid_t pid);
  ~LibdwStack();
  LibdwStack(const LibdwStack&) = delete;
  LibdwStack& operator=(const LibdwStack&) = delete;

  // The stack of the thread that began the process, innermost first.
  std::vector<std::uint64_t> Addresses();

 private:
  struct Session;
  pid_t pid_;
  std::unique_ptr<Session> session_;
};

}  // namespace fieldcost::testing
