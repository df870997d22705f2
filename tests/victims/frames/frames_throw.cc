// Stacks while exceptions propagate: stops itself (SIGSTOP) before each, and in the destructors and
// handlers that they reach. A tracer may follow each instruction.

#include <signal.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace {

void Stop() { ::kill(::getpid(), SIGSTOP); }

struct Local {
  ~Local() { Stop(); }
};

[[gnu::noinline]] int Throws(int depth) {
  const Local local;
  if (depth == 0) throw std::runtime_error("thrown " + std::to_string(depth));
  return Throws(depth - 1) + 1;
}

[[gnu::noinline]] int Catches(int depth) {
  try {
    return Throws(depth);
  } catch (const std::exception& error) {
    Stop();
    return error.what()[0];
  }
}

}  // namespace

int main(int argc, char**) { return Catches(argc + 2) == 't' ? 0 : 1; }
