// Calls a class's overloads, const and not, and functions with similar names, 10 times each.

#include "tests/victims/scopes_library.h"

#include <stdio.h>

int main() {
  scopes::Reader reader(1);
  const scopes::Reader& constant = reader;
  scopes::Writer writer;
  int64_t sum = 0;
  for (int i = 0; i < 10; ++i) {
    sum += reader.Read(int64_t{1}) + constant.Read(2.5) + reader.ReadAll() + writer.Read(reader);
  }
  printf("%lld\n", static_cast<long long>(sum));
  return 0;
}
