#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/catalog/catalog_schema.h"
#include "common/wire/public_tree.h"
#include "tests/common/catalog/sync_fixture.h"
#include "tests/support/process.h"

namespace fieldcost::catalog {

// A catalogue that syncs with a real server that cuts off its responses.
class ResumptionTest : public SyncTest {
 protected:
  ResumptionTest() { PublishTree(1000); }

  // Publishes a snapshot with one fragment of 40 functions; each of their calls costs `cost`.
  void PublishTree(std::uint64_t cost) {
    publisher_.Publish(testing::MakeRows(40, cost), 0, clock_.Now());
    const auto& reference = publisher_.snapshot.fragments.at(0);
    path_ = wire::FragmentPath(reference.sha256);
    size_ = reference.size_bytes;
    for (const std::string& path :
         {std::string(wire::kTimestampPath), wire::RootVersionPath(1),
          wire::SnapshotPath(publisher_.timestamp.snapshot_sha256), path_}) {
      const std::filesystem::path file = directory_.path() / "tree" / path.substr(1);
      EXPECT_TRUE(MakeDirectories(file.parent_path(), 0755));
      EXPECT_TRUE(WriteFileAtomically(file, publisher_.Get(path), 0644));
    }
  }

  // Starts cutting_server.py with this mode and number of bytes.
  void Start(const std::string& mode, std::int64_t bytes) {
    server_.emplace(testing::ProcessOptions{
        .arguments = {"python3", FIELDCOST_CATALOG_TEST_DIR "/cutting_server.py",
                      publisher_.certificates().certificate.string(),
                      publisher_.certificates().key.string(), (directory_.path() / "tree").string(),
                      mode, std::to_string(bytes)},
        .environment = {},
        .unset = {},
        .directory = {},
        .input = {}});
    std::string line;
    ASSERT_TRUE(server_->WaitForLine("port ", &line));
    port_ = line.substr(line.find(' ') + 1);
  }
  std::string Url() const { return "https://localhost:" + port_; }

  Result<SyncReport> Resume() {
    SyncOptions options = publisher_.Client(directory_.path());
    options.server.url = Url();
    return Sync(options, clock_);
  }
  void ExpectRequest(const std::string& range, int status) {
    std::string line;
    ASSERT_TRUE(server_->WaitForLine(path_, &line));
    EXPECT_EQ(line, fmt::format("{} {} {}", path_, range, status));
  }
  void RemoveCatalogue() {
    for (const char* name : {"catalog.db", "catalog.db-wal", "catalog.db-shm"}) {
      std::filesystem::remove(directory_.path() / name);
    }
  }
  std::uint64_t KeptBytes() {
    const auto database = OpenForReading(directory_.path() / "catalog.db");
    return database
               ? database->QueryInt("SELECT coalesce(sum(length(bytes)), 0) FROM parts").value()
               : 0;
  }
  void Keep(const std::string& part) {
    auto database = OpenForWriting(directory_.path() / "catalog.db");
    ASSERT_TRUE(database);
    ASSERT_TRUE(SavePart(*database, publisher_.snapshot.fragments.at(0).sha256, part));
  }

  std::string path_;
  std::uint64_t size_ = 0;
  std::string port_;
  std::optional<testing::BackgroundProcess> server_;
};

}  // namespace fieldcost::catalog
