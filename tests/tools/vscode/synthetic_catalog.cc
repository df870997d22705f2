// synthetic_catalog DIRECTORY: creates a profile directory with a catalogue for the editor's test.
//
// It is published and synced as in the field, over TLS on loopback, and clearly labelled synthetic.

#include <cstdio>
#include <filesystem>
#include <vector>

#include "common/catalog/catalog_sync.h"
#include "tests/common/catalog/publisher.h"

namespace {

using fieldcost::stats::Metric;
using fieldcost::testing::MakeRow;

constexpr unsigned kFragmentBits = 2;

std::vector<fieldcost::stats::StatRow> Rows() {
  return {// 1.5 µs; also allocates.
          MakeRow("libsqlite3.so.0", "sqlite3_step", 300, 1'500),
          MakeRow("libsqlite3.so.0", "sqlite3_step", 300, 4'096, Metric::kAllocInclusive),
          // 7 ms: above the threshold of inlay hints.
          MakeRow("libsqlite3.so.0", "sqlite3_exec", 200, 7'000'000),
          MakeRow("libsqlite3.so.0", "sqlite3_prepare_v2", 100, 30'000),
          MakeRow("libz.so.1", "deflate", 500, 90'000)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: synthetic_catalog DIRECTORY\n", stderr);
    return 64;
  }
  const std::filesystem::path home = argv[1];
  std::error_code error;
  std::filesystem::create_directories(home, error);
  const fieldcost::Clock& clock = fieldcost::SystemClock();
  fieldcost::testing::Publisher publisher(clock.Now());
  publisher.snapshot.synthetic = true;
  publisher.Publish(Rows(), kFragmentBits, clock.Now());
  fieldcost::catalog::SyncOptions options = publisher.Client(home);
  options.full = true;
  const auto report = fieldcost::catalog::Sync(options, clock);
  if (!report) {
    std::fprintf(stderr, "synthetic_catalog: %s\n", report.error().message.c_str());
    return 1;
  }
  return 0;
}
