// Syncs with several real servers, one of them broken in each way.
#include "common/catalog/mirrors.h"

#include <algorithm>
#include <set>

#include "common/base/file.h"
#include "common/http/origin.h"
#include "tests/common/catalog/mirror_server.h"
#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::catalog {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeRows;
using testing::MirrorServer;
using ::testing::UnorderedElementsAre;

// With two mirrors, these seeds give both orders.
constexpr std::uint64_t kSeeds[] = {1, 2, 3, 4, 5, 6};

bool IsFragment(const std::string& path) { return path.starts_with("/v1/fragment/"); }

class MirrorTest : public SyncTest {
 protected:
  MirrorTest() { publisher_.Publish(MakeRows(100, 1000), 3, kNow); }

  Result<SyncReport> SyncWith(const std::vector<const MirrorServer*>& servers, std::uint64_t seed,
                              const std::filesystem::path& directory) {
    SyncOptions options = publisher_.Client(directory);
    options.full = true;
    options.server.url = "https://localhost:1";  // unused if there are mirrors
    for (const MirrorServer* server : servers) options.mirrors.push_back(server->Address());
    options.mirror_seed = seed;
    return Sync(options, clock_);
  }
  Result<SyncReport> SyncWith(const std::vector<const MirrorServer*>& servers, std::uint64_t seed) {
    return SyncWith(servers, seed, directory_.path());
  }

  // Syncs succeed with the other one. If the broken one was tried
  // first, the report has its address and this reason.
  void ExpectSkipped(const MirrorServer::Change& change, const std::string& why) {
    MirrorServer broken(publisher_, "/broken", change);
    MirrorServer good(publisher_, "/good");
    std::set<bool> skipped;
    for (const std::uint64_t seed : kSeeds) {
      const testing::TempDir directory;
      const auto report = SyncWith({&broken, &good}, seed, directory.path());
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->fragments_fetched, 8U);
      skipped.insert(!report->skipped_mirrors.empty());
      for (const std::string& mirror : report->skipped_mirrors) {
        EXPECT_THAT(mirror, AllOf(HasSubstr(broken.Address().url + ": "), HasSubstr(why)));
      }
    }
    EXPECT_TRUE(skipped.contains(true)) << why;
  }

  MirrorServer::Change Replace(const std::string& path, const std::string& body) {
    return [path, body](const std::string& asked, http::Response& response) {
      if (asked == path) response = {.status = 200, .body = body};
    };
  }
};

TEST_F(MirrorTest, ServersMayHavePathsAndEachSyncDrawsAnOrder) {
  MirrorServer first(publisher_, "/fieldcost");
  MirrorServer second(publisher_, "/pub/field_cost-2.0~x");
  std::set<bool> used_first;
  for (const std::uint64_t seed : kSeeds) {
    const testing::TempDir directory;
    const auto report = SyncWith({&first, &second}, seed, directory.path());
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->skipped_mirrors, IsEmpty());
    const std::size_t asked_first = first.TakeRequests().size();
    EXPECT_NE(asked_first == 0, second.TakeRequests().empty()) << "one mirror serves all of it";
    used_first.insert(asked_first != 0);
  }
  EXPECT_THAT(used_first, UnorderedElementsAre(true, false));
  EXPECT_EQ(publisher_.TakeRequests().size(), 0U);
}

TEST_F(MirrorTest, OneThatRefusesConnectionsIsSkipped) {
  MirrorServer stopped(publisher_, "");
  MirrorServer good(publisher_, "");
  stopped.Stop();
  std::set<std::size_t> skipped;
  for (const std::uint64_t seed : kSeeds) {
    const testing::TempDir directory;
    const auto report = SyncWith({&stopped, &good}, seed, directory.path());
    ASSERT_TRUE(report) << report.error().message;
    skipped.insert(report->skipped_mirrors.size());
    for (const std::string& mirror : report->skipped_mirrors) {
      EXPECT_THAT(mirror, AllOf(HasSubstr(stopped.Address().url), HasSubstr("refused")));
    }
  }
  EXPECT_THAT(skipped, UnorderedElementsAre(0U, 1U));
}

TEST_F(MirrorTest, OneThatFailsIsSkipped) {
  ExpectSkipped([](const std::string&, http::Response& response) { response.status = 503; }, "503");
  ExpectSkipped(
      [](const std::string& path, http::Response& response) {
        if (IsFragment(path)) response.status = 500;
      },
      "answered 500");
  ExpectSkipped(Replace(wire::kTimestampPath, "<html>sign in</html>"), "timestamp metadata");
  ExpectSkipped(Replace(wire::kTimestampPath, std::string(64 * kKiB, 'x')), "larger than allowed");
}

TEST_F(MirrorTest, OneThatSendsOtherBytesIsSkipped) {
  ExpectSkipped(
      [](const std::string& path, http::Response& response) {
        if (IsFragment(path)) response.body[response.body.size() / 2] ^= 1;
      },
      "is not the one that the snapshot names");
  ExpectSkipped(
      [](const std::string& path, http::Response& response) {
        if (IsFragment(path)) response.body.resize(response.body.size() / 2);
      },
      "is not the one that the snapshot names");
  ExpectSkipped(Replace(wire::SnapshotPath(publisher_.timestamp.snapshot_sha256), "other"),
                "is not the one that the timestamp names");
}

TEST_F(MirrorTest, OneWithTheSignaturesOfAnotherServiceIsSkipped) {
  testing::Publisher other(kNow);
  other.Publish(MakeRows(100, 7), 3, kNow);
  ExpectSkipped(
      [&](const std::string& path, http::Response& response) {
        response = {.status = 404};
        if (auto file = other.Find(path)) response = {.status = 200, .body = std::move(*file)};
      },
      "timestamp metadata");
}

TEST_F(MirrorTest, OneThatExpiredOrIsOlderThanWhatWasSeenIsSkipped) {
  const std::string old = publisher_.Get(wire::kTimestampPath);
  clock_.Advance(kDay * 2);
  publisher_.Publish(MakeRows(100, 2000), 3, clock_.Now());
  ExpectSkipped(Replace(wire::kTimestampPath, old), "timestamp metadata expired");

  const std::string current = publisher_.Get(wire::kTimestampPath);
  publisher_.Publish(MakeRows(100, 3000), 3, clock_.Now());
  MirrorServer stale(publisher_, "", Replace(wire::kTimestampPath, current));
  MirrorServer good(publisher_, "");
  ASSERT_TRUE(SyncWith({&good}, 1));
  bool was_skipped = false;
  for (const std::uint64_t seed : kSeeds) {
    const auto report = SyncWith({&stale, &good}, seed);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->snapshot_version, 3U);
    for (const std::string& mirror : report->skipped_mirrors) {
      EXPECT_THAT(mirror, HasSubstr("rollback"));
      was_skipped = true;
    }
  }
  EXPECT_TRUE(was_skipped);
  EXPECT_EQ(SumOf(0), 3000U);
}

TEST_F(MirrorTest, ASnapshotIsAssembledFromMirrorsThatEachHaveAPart) {
  const auto only = [](bool first) {
    return [first](const std::string& path, http::Response& response) {
      if (IsFragment(path) && (path.back() < '8') != first) response = {.status = 404};
    };
  };
  MirrorServer low(publisher_, "/low", only(true));
  MirrorServer high(publisher_, "/high", only(false));
  for (const std::uint64_t seed : kSeeds) {
    const testing::TempDir directory;
    const auto report = SyncWith({&low, &high}, seed, directory.path());
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->fragments_stale, 0U);
    EXPECT_THAT(report->skipped_mirrors, IsEmpty()) << "it only lacks a file";
  }
  // Alone, neither suffices, and the catalogue stays incomplete.
  const auto report = SyncWith({&low}, 1);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(Fresh().is_complete);
}

TEST_F(MirrorTest, ATimestampIsCompletedByMirrorsThatAreAhead) {
  const std::string snapshot = wire::SnapshotPath(publisher_.timestamp.snapshot_sha256);
  MirrorServer partial(publisher_, "", [&](const std::string& path, http::Response& response) {
    if (path == snapshot || IsFragment(path)) response = {.status = 404};
  });
  MirrorServer good(publisher_, "");
  for (const std::uint64_t seed : kSeeds) {
    const testing::TempDir directory;
    const auto report = SyncWith({&partial, &good}, seed, directory.path());
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->fragments_stale, 0U);
  }
}

TEST_F(MirrorTest, VersionsDoNotMixIfAMirrorIsUpdatedDuringTheSync) {
  // Publishes again as soon as the first fragment is asked for: the sync continues with its
  // snapshot, whose files stay.
  bool published = false;
  std::mutex mutex;
  MirrorServer server(publisher_, "", [&](const std::string& path, http::Response&) {
    const std::lock_guard lock(mutex);
    if (!IsFragment(path) || published) return;
    published = true;
    publisher_.Publish(MakeRows(100, 9000), 3, kNow);
  });
  const auto report = SyncWith({&server}, 1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->snapshot_version, 1U);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(SumOf(i), (i + 1) * 1000) << i;
}

TEST_F(MirrorTest, IfAllFailTheErrorNamesEach) {
  MirrorServer first(publisher_, "/a", [](const auto&, auto& response) { response.status = 503; });
  MirrorServer second(publisher_, "/b", Replace(wire::kTimestampPath, "x"));
  const auto report = SyncWith({&first, &second}, 1);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message,
              AllOf(HasSubstr("no mirror could be used: "), HasSubstr(first.Address().url + ": "),
                    HasSubstr("503"), HasSubstr(second.Address().url + ": ")));
}

TEST_F(MirrorTest, ALocalErrorSkipsNoMirror) {
  MirrorServer first(publisher_, "");
  MirrorServer second(publisher_, "");
  SyncOptions options = publisher_.Client(directory_.path());
  options.mirrors = {first.Address(), second.Address()};
  options.server.may_go_on = []() -> Status {
    return Fail(ErrorCode::kPermissionDenied, "switched off");
  };
  const auto report = Sync(options, clock_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kPermissionDenied);
  EXPECT_THAT(report.error().message, ::testing::Not(HasSubstr("no mirror")));
}

TEST_F(MirrorTest, ADirectoryIsASourceLikeAServer) {
  const std::filesystem::path tree = directory_.path() / "tree";
  const auto write = [&](const std::string& path) {
    const std::filesystem::path file = tree / path.substr(1);
    ASSERT_TRUE(MakeDirectories(file.parent_path(), 0755));
    ASSERT_TRUE(WriteFileAtomically(file, publisher_.Get(path), 0644));
  };
  SyncOptions options = publisher_.Client(directory_.path());
  options.mirrors = {{.url = {}, .proxy_url = {}, .directory = tree}};
  auto report = Sync(options, clock_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(report.error().message, AllOf(HasSubstr("publish --to"), HasSubstr(tree.string())));

  write(wire::kTimestampPath);
  write(wire::SnapshotPath(publisher_.timestamp.snapshot_sha256));
  for (const auto& reference : publisher_.snapshot.fragments) {
    write(wire::FragmentPath(reference.sha256));
  }
  const std::filesystem::path last =
      tree / wire::FragmentPath(publisher_.snapshot.fragments.back().sha256).substr(1);
  std::string fragment = *ReadFile(last, wire::kMaxFragmentBytes);
  fragment[fragment.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(last, fragment, 0644));
  report = Sync(options, clock_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUnauthenticated) << report.error().message;
  EXPECT_FALSE(Fresh().is_complete);

  write(wire::FragmentPath(publisher_.snapshot.fragments.back().sha256));
  report = Sync(options, clock_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(Fresh().is_complete);
  EXPECT_EQ(SumOf(99), 100'000U);
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
}

TEST(MirrorsTest, TheOrderIsAFunctionOfTheSeed) {
  const auto order = [](std::uint64_t seed) {
    std::vector<Mirror> list;
    for (const char* name : {"a", "b", "c"}) {
      list.push_back({.url = std::string("https://") + name, .proxy_url = {}});
    }
    const auto mirrors = Mirrors::Create(std::move(list), seed);
    std::string names;
    for (std::size_t i = 0; i < mirrors->size(); ++i) names += mirrors->at(i).mirror.url.back();
    return names;
  };
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(order(seed), order(seed));
    orders.insert(order(seed));
  }
  EXPECT_EQ(orders.size(), 6U);
}

TEST(MirrorsTest, HasLimits) {
  EXPECT_FALSE(Mirrors::Create({}, 1));
  EXPECT_FALSE(Mirrors::Create(std::vector<Mirror>(kMaxMirrors + 1, {"https://a", ""}), 1));
  EXPECT_TRUE(Mirrors::Create(std::vector<Mirror>(kMaxMirrors, {"https://a", ""}), 1));
  EXPECT_FALSE(Mirrors::Create({{"https://a/?x", ""}}, 1));
}

TEST(BaseUrlTest, SplitsServerAndPath) {
  struct {
    const char* text;
    const char* server;
    const char* path;
  } const rows[] = {
      {"https://a.example", "https://a.example", ""},
      {"https://a.example/", "https://a.example", ""},
      {"https://a.example:8443/pub", "https://a.example:8443", "/pub"},
      {"https://[::1]:1/pub/field-cost_1.0~/", "https://[::1]:1", "/pub/field-cost_1.0~"},
      {"http://127.0.0.1:80/x", "http://127.0.0.1:80", "/x"},
  };
  for (const auto& row : rows) {
    const auto base = http::ParseBaseUrl(row.text);
    ASSERT_TRUE(base) << row.text;
    EXPECT_EQ(base->server, row.server);
    EXPECT_EQ(base->path, row.path);
  }
  for (const std::string path : {"//", "/a//b", "/..", "/a/../b", "/./a", "/a?b", "/a#b", "/%41",
                                 "/a b", "/\n", "/\xc3\xa9"}) {
    EXPECT_FALSE(http::ParseBaseUrl("https://a.example" + path)) << path;
  }
  const std::string longest = "https://a/" + std::string(http::kMaxBasePathBytes - 1, 'x');
  EXPECT_TRUE(http::ParseBaseUrl(longest));
  EXPECT_FALSE(http::ParseBaseUrl(longest + 'x'));
}

}  // namespace
}  // namespace fieldcost::catalog
