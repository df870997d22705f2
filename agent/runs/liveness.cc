#include "agent/runs/liveness.h"

#include <fcntl.h>

namespace fieldcost::runs {

bool IsBeingWritten(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  // Detects locks of open files and of processes; this descriptor itself holds none.
  return ::fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace fieldcost::runs
