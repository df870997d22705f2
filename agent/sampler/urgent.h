#pragma once

#include <sys/resource.h>

namespace fieldcost::sampler {

// While it lives this thread goes before others, if it may: a stack is to be read before it
// changes. Programs that are started meanwhile inherit it.
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

}  // namespace fieldcost::sampler
