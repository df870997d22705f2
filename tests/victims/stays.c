// Prints that it is there and waits for a signal, for a minute and its parent's life at most.

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
  alarm(60);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  puts("ready");
  fflush(stdout);
  pause();
  return 0;
}
