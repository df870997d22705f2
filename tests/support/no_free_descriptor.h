#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/file.h"

namespace fieldcost::testing {

// Prevents this process from opening descriptors during the object's lifetime.
class NoFreeDescriptor {
 public:
  NoFreeDescriptor() {
    ::getrlimit(RLIMIT_NOFILE, &saved_);
    const UniqueFd next(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    rlimit lowered = saved_;
    lowered.rlim_cur = static_cast<rlim_t>(next.get());
    ::setrlimit(RLIMIT_NOFILE, &lowered);
  }
  ~NoFreeDescriptor() { ::setrlimit(RLIMIT_NOFILE, &saved_); }
  NoFreeDescriptor(const NoFreeDescriptor&) = delete;
  NoFreeDescriptor& operator=(const NoFreeDescriptor&) = delete;

 private:
  rlimit saved_{};
};

}  // namespace fieldcost::testing
