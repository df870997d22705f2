// The C++ reader, with which run.sh compares the one in JavaScript:
//
// reader_counterpart write FOLDER: writes a signed tree of 10,000 rows, and the rows as the C++
// reader decodes them, FOLDER/rows.jsonl.
//
// reader_counterpart trees LIST: syncs with each tree of the list, whose lines are NAME, time in
// microseconds, root file and folder, separated by tabs; those of one NAME share a catalogue.
// Prints NAME, "ok" or the kind of the error, and its message.
//
// reader_counterpart fragments FILE: decodes the fragments in the file, each after its size as u32,
// little endian. Prints "ok", the number of rows and the rows, or the kind of the error and its
// message.
//
// reader_counterpart periods FILE: the same for files of periods.

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/byte_order.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/catalog/catalog_sync.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment.h"
#include "common/wire/metadata.h"
#include "common/wire/period_fragment.h"
#include "common/wire/public_tree.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/reader/many_rows.h"
#include "tests/tools/reader/row_lines.h"

namespace fieldcost {
namespace {

constexpr std::size_t kRows = 10'000;
constexpr unsigned kFragmentBits = 4;
constexpr WallTime kNow{std::chrono::hours(24 * 20'000)};
constexpr std::chrono::hours kDay{24};

crypto::PrivateKey Key(char seed) { return crypto::PrivateKey::FromSeed(std::string(32, seed)); }

void Write(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  FIELDCOST_CHECK(WriteFileAtomically(path, bytes, 0644).has_value());
}

int WriteTree(const std::filesystem::path& folder) {
  std::vector<std::vector<stats::StatRow>> parts(std::size_t{1} << kFragmentBits);
  for (const stats::StatRow& row : ManyRows(kRows)) {
    const stats::ApiKey& api = row.key.api;
    parts[wire::FragmentIndexOf(api.soname, api.symbol, kFragmentBits)].push_back(row);
  }
  wire::SnapshotMetadata snapshot{.version = 1,
                                  .expires = kNow + 7 * kDay,
                                  .published = kNow,
                                  .contribution_threshold = 1,
                                  .synthetic = true,
                                  .fragment_bits = kFragmentBits,
                                  .fragments = {}};
  std::string lines;
  for (const std::vector<stats::StatRow>& part : parts) {
    const auto fragment = wire::EncodeFragment(part);
    if (!fragment) {
      std::fprintf(stderr, "encoding failed: %s\n", fragment.error().message.c_str());
      return 1;
    }
    const std::string hash = crypto::Sha256(*fragment);
    snapshot.fragments.push_back({hash, fragment->size(), part.size()});
    Write(folder / wire::FragmentPath(hash).substr(1), *fragment);
    lines += RowLines(wire::DecodeFragment(*fragment).value());
  }
  const std::string signed_snapshot = wire::SignSnapshot(snapshot, Key(4));
  const wire::TimestampMetadata timestamp{.version = 1,
                                          .expires = kNow + kDay,
                                          .published = kNow,
                                          .snapshot_version = 1,
                                          .snapshot_sha256 = crypto::Sha256(signed_snapshot),
                                          .snapshot_bytes = signed_snapshot.size(),
                                          .refresh_seconds = 3600};
  const wire::RootMetadata root{.version = 1,
                                .expires = kNow + 365 * kDay,
                                .root_threshold = 2,
                                .root_keys = {Key(1).public_key(), Key(2).public_key()},
                                .timestamp_keys = {Key(3).public_key()},
                                .snapshot_keys = {Key(4).public_key()},
                                .policy_keys = {},
                                .operated_by = {.name = "Exämple", .contact = "", .privacy = ""}};
  Write(folder / wire::SnapshotPath(timestamp.snapshot_sha256).substr(1), signed_snapshot);
  Write(folder / "v1/timestamp", wire::SignTimestamp(timestamp, Key(3)));
  Write(folder / "v1/root/1", wire::SignRoot(root, {Key(1), Key(2)}));
  Write(folder / "rows.jsonl", lines);
  return 0;
}

int JudgeTrees(const std::filesystem::path& list) {
  const testing::TempDir catalogs;
  const std::string text = ReadFile(list, 64 * kMiB).value();
  for (std::string_view left = text; !left.empty();) {
    std::vector<std::string> words(1);
    for (; left.front() != '\n'; left.remove_prefix(1)) {
      if (left.front() == '\t') {
        words.emplace_back();
      } else {
        words.back() += left.front();
      }
    }
    left.remove_prefix(1);
    FIELDCOST_CHECK(words.size() == 4);
    catalog::SyncOptions options;
    options.catalog_file = catalogs.path() / words[0];
    options.root_file = words[2];
    options.mirrors = {{.url = {}, .proxy_url = {}, .directory = words[3]}};
    options.full = true;
    const testing::FakeClock clock(
        WallTime(std::chrono::microseconds(ParseUint64(words[1]).value())));
    const auto report = catalog::Sync(options, clock);
    const std::string code(report ? "ok" : Name(report.error().code));
    std::printf("%s\t%s\t%s\n", words[0].c_str(), code.c_str(),
                report ? "" : report.error().message.c_str());
  }
  return 0;
}

using Decode = Result<std::vector<stats::StatRow>>(std::string_view untrusted_bytes);

int JudgeFragments(const std::filesystem::path& file, Decode decode) {
  const std::string bytes = ReadFile(file, 256 * kMiB).value();
  for (std::string_view left = bytes; !left.empty();) {
    const std::size_t size = ReadLittleEndian(left.substr(0, 4));
    const auto rows = decode(left.substr(4, size));
    left.remove_prefix(4 + size);
    if (rows) {
      std::printf("ok\t%zu\n%s", rows->size(), RowLines(*rows).c_str());
    } else {
      const std::string code(Name(rows.error().code));
      std::printf("%s\t%s\n", code.c_str(), rows.error().message.c_str());
    }
  }
  return 0;
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3) {
    const std::filesystem::path path = arguments[2];
    if (arguments[1] == "write") return WriteTree(path);
    if (arguments[1] == "trees") return JudgeTrees(path);
    if (arguments[1] == "fragments") {
      return JudgeFragments(path, [](auto bytes) { return wire::DecodeFragment(bytes); });
    }
    if (arguments[1] == "periods") {
      return JudgeFragments(path, [](auto bytes) { return wire::DecodePeriodFragment(bytes); });
    }
  }
  std::fputs("usage: reader_counterpart write|trees|fragments|periods PATH\n", stderr);
  return 64;
}

}  // namespace
}  // namespace fieldcost

int main(int argc, char** argv) {
  return fieldcost::Main(std::vector<std::string>(argv, argv + argc));
}
