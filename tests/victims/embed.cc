// The Python interpreter as programs embed it: all their calls to it use jump slots. In addition
// to the usual interpreter it has `call_in_measured_call`, which scripts call through ctypes.

#include "tests/victims/victim_library.h"

extern "C" int Py_BytesMain(int argc, char** argv);  // libpython, Python 3.8 and later

// Calls back from inside a measured call of this program.
extern "C" __attribute__((visibility("default"))) void call_in_measured_call(
    void (*function)(void*)) {
  victim_call_back(function, nullptr);
}

int main(int argc, char** argv) {
  victim_noop();
  return Py_BytesMain(argc, argv);
}
