// Prints a line and waits for a signal, at most for a minute and its parent's lifetime.

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
