// Writes the sample tree in every format to a folder, for programs of others: write_samples FOLDER

#include <cstdio>
#include <filesystem>

#include "common/base/file.h"
#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"

int main(int argc, char** argv) {
  using namespace fieldcost;
  if (argc != 2) return 2;
  const tree::Tree tree = exchange::SampleTree();
  for (const exchange::FormatInfo& info : exchange::Formats()) {
    if (!info.can_export) continue;
    const auto exported = exchange::Export(tree, info.format, {.title = "sample"});
    const std::filesystem::path file =
        std::filesystem::path(argv[1]) / fmt::format("{}{}", info.name, info.extension);
    const Status written =
        exported ? WriteFileAtomically(file, exported->bytes, 0644) : Status(exported.error());
    if (!written) {
      std::fprintf(stderr, "%s: %s\n", file.c_str(), written.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
