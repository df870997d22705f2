// A file of another program; its format is detected from the contents.

#include <string_view>

#include "tests/fuzz/import_fuzz.h"
#include "tools/exchange/foreign_kind.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)exchange::ForeignKind(bytes);
  const auto imported = exchange::Import(bytes);
  if (!imported) return 0;
  FIELDCOST_CHECK(exchange::InfoOf(imported->format).can_import);
  return FuzzImport(imported->format, data, size);
}
