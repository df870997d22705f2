// Prints the median wall µs from starting a program to its end:  start_cost COUNT PROGRAM [ARG...]
// BENCH_PRELOAD becomes the program's LD_PRELOAD, but not this program's.

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

extern char** environ;

namespace {

double Microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  std::string preload = "LD_PRELOAD=";
  if (const char* library = getenv("BENCH_PRELOAD"))
    environment.push_back((preload += library).data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  std::vector<double> costs;
  for (int i = 0; i < atoi(argv[1]); ++i) {
    const double start = Microseconds();
    pid_t child = 0;
    int status = 0;
    if (posix_spawnp(&child, argv[2], &actions, nullptr, argv + 2, environment.data()) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
      fprintf(stderr, "start_cost: %s did not run\n", argv[2]);
      return 1;
    }
    costs.push_back(Microseconds() - start);
  }
  std::sort(costs.begin(), costs.end());
  printf("%.2f\n", costs[costs.size() / 2]);
  return 0;
}
