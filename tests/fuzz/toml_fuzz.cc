#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/check.h"
#include "common/config/toml_file.h"

// A configuration file: it is either accepted or refused with one line of text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  auto file = config::TomlFile::Parse({reinterpret_cast<const char*>(data), size}, "input.toml");
  Status status;
  if (file) {
    std::string text;
    std::uint64_t number = 0;
    double real = 0;
    bool flag = false;
    std::vector<std::string> texts;
    file->ReadString("server.address", text);
    file->ReadUint("server.port", 0, 65535, number);
    file->ReadDouble("selection.probability", 0, 1, real);
    file->ReadBool("modules.builtin", flag);
    file->ReadStrings("modules.extra", texts);
    const std::size_t tables = file->CountTables("point");
    for (std::size_t i = 0; i < tables; ++i) {
      file->ReadString("point." + std::to_string(i) + ".label", text);
    }
    status = file->Finish();
    FIELDCOST_CHECK(number <= 65535 && real >= 0 && real <= 1);
  } else {
    status = file.error();
  }
  FIELDCOST_CHECK(status || status.error().message.find('\n') == std::string::npos);
  return 0;
}
