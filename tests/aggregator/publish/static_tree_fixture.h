#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "aggregator/publish/key_rotation.h"
#include "aggregator/publish/policy_publisher.h"
#include "aggregator/publish/static_tree.h"
#include "aggregator/publish/tree_check.h"
#include "common/wire/public_tree.h"
#include "tests/aggregator/publish/publish_fixture.h"

namespace fieldcost::publish {

// A publication with a policy, and the directory of its tree.
class StaticTreeFixture : public PublishTest {
 protected:
  StaticTreeFixture() : publisher_(MustOpen(Options(1))) {
    Contribute(1, 1, 2900, 1, 20);
    MustPublish(publisher_);
    const auto policy =
        PublishPolicy(data_dir(), {.selection_per_65536 = 7}, std::chrono::days(300), clock_, "");
    EXPECT_TRUE(policy.has_value()) << policy.error().message;
  }

  std::filesystem::path tree() const { return dir_.path() / "tree"; }

  Result<StaticTreeReport> Write() {
    return WriteStaticTree({.data_dir = data_dir(), .directory = tree(), .progress = {}}, clock_);
  }
  StaticTreeReport MustWrite() {
    auto report = Write();
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report ? *report : StaticTreeReport();
  }
  // Changes some rows and publishes them.
  void PublishMore() {
    Contribute(++agents_, 1, 2900, 1, 3);
    MustPublish(publisher_);
  }

  // "FILE: WHY" for each problem of the tree.
  std::vector<std::string> Problems(const TreeCheckOptions& options = {}) {
    const auto source = OpenTree(tree().string(), "");
    EXPECT_TRUE(source.has_value()) << source.error().message;
    const auto report = CheckTree(**source, options, clock_.Now());
    EXPECT_TRUE(report.has_value()) << report.error().message;
    std::vector<std::string> problems;
    for (const TreeProblem& problem : report->problems) {
      const std::string file = std::filesystem::path(problem.file).lexically_relative(tree());
      problems.push_back(file + ": " + problem.why);
    }
    version_ = report->version;
    return problems;
  }

  // The bytes of all files by their path relative to the tree, except the list of deletions.
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree() / "v1")) {
      if (!entry.is_regular_file()) continue;
      contents[entry.path().lexically_relative(tree())] = MustRead(entry.path());
    }
    return contents;
  }
  std::string FragmentFile(std::size_t index) {
    return wire::FragmentPath(MustVerify(publisher_).fragments.at(index).sha256).substr(1);
  }

  Publisher publisher_;
  std::uint64_t version_ = 0;  // found by the last Problems()
  unsigned agents_ = 1;
};

}  // namespace fieldcost::publish
