#include "agent/runs/liveness.h"

#include <fcntl.h>

namespace fieldcost::agent {

bool IsBeingWritten(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  // Sees locks of open files and of processes, and none of ours: this descriptor holds none.
  return ::fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace fieldcost::agent
