// A program without points in its source: it calls functions of a library through its slots.

#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

extern "C" {
struct named_large {
  long values[5];
};
long named_add(long a, long b);
long named_outer(long a);
void named_begin(int number);
void named_step();
void named_end();
double named_real(double a, int n, double b);
named_large named_structure(long first);
void named_callback(void (*call)());
}

static jmp_buf out;

int main(int count, char** arguments) {
  const char* const mode = count > 1 ? arguments[1] : "";
  if (strcmp(mode, "calls") == 0) {
    const long sum = named_add(20, 22);
    const named_large made = named_structure(9);
    printf("%ld %.1f %ld\n", sum, named_real(1.5, 2, 0.25), made.values[0] + made.values[4]);
  } else if (strcmp(mode, "event") == 0) {
    for (int i = 0; i < 3; ++i) {
      named_begin(i);
      std::thread([] { named_step(); }).join();
      named_end();
      named_step();  // outside of any such event
    }
  } else if (strcmp(mode, "left") == 0) {
    for (int i = 0; i < 1000; ++i) {
      if (setjmp(out) == 0) named_callback([] { longjmp(out, 1); });
      try {
        named_callback([] { throw std::runtime_error("left"); });
      } catch (const std::runtime_error&) {
      }
    }
    printf("%ld\n", named_add(1, 2));
  } else if (strcmp(mode, "loads") == 0) {
    void* const handle = dlopen("libm.so.6", RTLD_NOW);
    printf("%d\n", handle != nullptr);
  } else if (strcmp(mode, "child loads") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      void* const plugin = dlopen(arguments[2], RTLD_NOW);
      auto* const run = reinterpret_cast<long (*)(long)>(dlsym(plugin, "plugin_run"));
      _exit(run != nullptr && run(1) != 0 ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
  } else if (strcmp(mode, "write") == 0) {
    (void)!write(1, "to one\n", 7);
  } else if (strcmp(mode, "_exit") == 0) {
    _exit(3);
  } else if (strcmp(mode, "throws") == 0) {
    throw std::runtime_error("not caught");
  }
  return 0;
}
