#pragma once

#include <sys/resource.h>

namespace fieldcost::perf {

// Raises this thread's priority during its lifetime, if permitted, so that stacks are read before
// they change. Programs started in the meantime inherit the priority.
class Urgent {
 public:
  Urgent() : before_(::getpriority(PRIO_PROCESS, 0)) { ::setpriority(PRIO_PROCESS, 0, kUrgent); }
  ~Urgent() { ::setpriority(PRIO_PROCESS, 0, before_); }
  Urgent(const Urgent&) = delete;
  Urgent& operator=(const Urgent&) = delete;

 private:
  static constexpr int kUrgent = -10;
  int before_;
};

}  // namespace fieldcost::perf
