#include "common/wire/public_tree.h"

#include <gtest/gtest.h>

#include <set>

namespace fieldcost::wire {
namespace {

const std::string kHash(64, 'a');

TEST(PublicTreeTest, PathsNameVersionAndHash) {
  EXPECT_EQ(RootVersionPath(7), "/v1/root/7");
  EXPECT_EQ(SnapshotPath(std::string(32, '\xab')),
            "/v1/snapshot/abababababababababababababababababababababababababababababababab");
  EXPECT_EQ(FragmentPath(std::string(32, '\xff')), "/v1/fragment/" + std::string(64, 'f'));
}

TEST(PublicTreeTest, EachPathIsReadBack) {
  const struct {
    std::string path;
    PublicKind kind;
    std::string name;
    std::uint64_t version;
  } cases[] = {
      {kTimestampPath, PublicKind::kTimestamp, "timestamp", 0},
      {kPolicyPath, PublicKind::kPolicy, "policy", 0},
      {kRootPath, PublicKind::kNewestRoot, "newest", 0},
      {RootVersionPath(1), PublicKind::kRoot, "1", 1},
      {RootVersionPath(18446744073709551615U), PublicKind::kRoot, "18446744073709551615",
       18446744073709551615U},
      {SnapshotPath(std::string(32, '\xaa')), PublicKind::kSnapshot, kHash, 0},
      {FragmentPath(std::string(32, '\xaa')), PublicKind::kFragment, kHash, 0},
  };
  for (const auto& c : cases) {
    const auto parsed = ParsePublicPath(c.path);
    ASSERT_TRUE(parsed.has_value()) << c.path;
    EXPECT_EQ(parsed->path->kind, c.kind);
    EXPECT_EQ(parsed->name, c.name);
    EXPECT_EQ(parsed->version, c.version);
  }
}

TEST(PublicTreeTest, EachFileHasASinglePath) {
  for (const std::string& path : {std::string(),
                                  std::string("/"),
                                  std::string("/v1"),
                                  std::string("/v1/"),
                                  std::string("/v1/root"),
                                  std::string("/v1/root/"),
                                  std::string("/v1/root/0"),
                                  std::string("/v1/root/01"),
                                  std::string("/v1/root/+1"),
                                  std::string("/v1/root/1/"),
                                  std::string("/v1/root/18446744073709551616"),
                                  std::string("/v1/root/../timestamp"),
                                  std::string("/v1/root/Newest"),
                                  std::string("v1/timestamp"),
                                  std::string("//v1/timestamp"),
                                  std::string("/v1/timestamp/"),
                                  std::string("/v1/timestamp?x"),
                                  std::string("/v1/%74imestamp"),
                                  std::string("/v1/snapshot/"),
                                  "/v1/fragment/" + kHash + "a",
                                  "/v1/fragment/A" + kHash.substr(1),
                                  "/v1/fragment/" + kHash.substr(1),
                                  "/v1/fragment/" + kHash + '/',
                                  "/v1/fragments/" + kHash}) {
    EXPECT_FALSE(ParsePublicPath(path).has_value()) << path;
  }
}

// A disk cannot hold a file and a directory of the same name.
TEST(PublicTreeTest, NoFileIsAFolder) {
  std::set<std::string> folders;
  for (const PublicPath& path : kPublicPaths) folders.emplace(path.folder);
  for (const PublicPath& path : kPublicPaths) {
    EXPECT_FALSE(folders.contains(std::string(path.folder) + std::string(path.name) + '/'));
  }
}

}  // namespace
}  // namespace fieldcost::wire
