// Functions with every kind of name, some inlined into others by the compiler.

#include <cstdio>
#include <string>
#include <vector>

namespace names {

[[gnu::always_inline]] inline int Innermost(int value) {
  volatile int kept = value * 3;
  return kept + 1;
}
[[gnu::always_inline]] inline int Middle(int value) {
  return Innermost(value) + Innermost(value + 1);
}

template <typename Value>
[[gnu::noinline]] Value Twice(Value value) {
  return value + static_cast<Value>(Middle(static_cast<int>(value)));
}

struct Counter {
  [[gnu::noinline]] int operator()(int by) const { return start + Middle(by); }
  int start = 0;
};

[[gnu::noinline]] std::string Joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

}  // namespace names

// Local to this file; the compiler may create a copy for a known argument.
[[gnu::noinline]] static int local_function(int value, int factor) {
  return names::Middle(value) * factor;
}

extern "C" [[gnu::noinline]] int names_plain(int value) {
  return local_function(value, 7) + local_function(value + 1, 7);
}

extern "C" int names_all(int value) {
  const names::Counter counter{.start = value};
  return names_plain(value) + names::Twice(value) + static_cast<int>(names::Twice(2.5)) +
         counter(3) + static_cast<int>(names::Joined({"a", "b"}).size());
}

#ifdef NAMES_PROGRAM
int main(int argc, char**) {
  std::printf("%d\n", names_all(argc));
  return 0;
}
#endif
