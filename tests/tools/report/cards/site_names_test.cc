#include "tools/report/cards/site_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/base/ascii.h"

namespace fieldcost::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kLongestEntry = 4'096;

SiteName NameOf(const std::string& soname, const std::string& function) {
  return {.untrusted_function = function,
          .untrusted_searched = function,
          .untrusted_soname = soname,
          .page = soname + "/" + function + ".html",
          .cost = "1.5 µs"};
}

// The files, and the search that their format documents.
class Tree {
 public:
  explicit Tree(const std::vector<SiteName>& names) {
    const auto root = WriteSiteNames(names, [&](const std::string& path, const std::string& bytes) {
      EXPECT_TRUE(files_.emplace(path, bytes).second) << path;
      return Status();
    });
    EXPECT_TRUE(root.has_value());
    root_ = *root;
  }

  const std::map<std::string, std::string>& files() const { return files_; }
  const std::string& root() const { return root_; }

  // All functions in nodes whose keys may begin with `prefix`.
  std::set<std::string> Near(const std::string& prefix) {
    std::set<std::string> found;
    Visit(root_, prefix, found);
    return found;
  }
  // As many bytes as a query loads that visits all of them.
  std::size_t loaded() const { return loaded_; }

 private:
  boost::json::value Content(const std::string& id) {
    const std::string& text = files_.at("~search/" + id + ".js");
    loaded_ += text.size();
    const std::string begin = "siteNode(\"" + id + "\",";
    EXPECT_TRUE(text.starts_with(begin) && text.ends_with(");\n")) << text;
    return boost::json::parse(text.substr(begin.size(), text.size() - begin.size() - 3));
  }

  void Visit(const std::string& id, const std::string& prefix, std::set<std::string>& found) {
    const boost::json::array content = Content(id).as_array();
    if (id.starts_with("0/")) {
      for (const auto& name : content) found.insert(std::string(name.at(0).as_string()));
      return;
    }
    const int level = std::stoi(id) - 1;
    const boost::json::array& keys = content.at(1).as_array();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string key(keys[i].as_string());
      if (key > prefix && !key.starts_with(prefix)) break;
      if (i + 1 < keys.size() && std::string(keys[i + 1].as_string()) < prefix) continue;
      Visit(
          std::to_string(level) + "/" + std::to_string(content.at(0).as_int64() + std::int64_t(i)),
          prefix, found);
    }
  }

  std::map<std::string, std::string> files_;
  std::string root_;
  std::size_t loaded_ = 0;
};

TEST(SiteNamesTest, FewNamesAreOneFile) {
  const Tree tree({NameOf("libz.so.1", "crc32")});
  EXPECT_EQ(tree.root(), "0/0");
  EXPECT_EQ(tree.files(),
            (std::map<std::string, std::string>{
                {"~search/0/0.js",
                 "siteNode(\"0/0\",[\n[\"crc32\",\"libz.so.1\",\"\",\"1.5 µs\"]]);\n"}}));
}

TEST(SiteNamesTest, ANameIsFoundByEachOfItsParts) {
  std::mt19937 random(7);
  const auto word = [&] {
    std::string text;
    for (std::size_t left = 1 + random() % 12; left > 0; --left)
      text += "abAB_~ \x01"[random() % 8];
    return text;
  };
  std::vector<SiteName> names;
  for (int i = 0; i < 2'000; ++i) names.push_back(NameOf("lib" + word() + ".so", word() + word()));
  // Equal keys fill several nodes.
  for (int i = 0; i < 500; ++i) names.push_back(NameOf("libsame" + std::to_string(i), "same"));
  Tree tree(names);
  EXPECT_GE(tree.root(), "1/0");
  for (std::size_t i = 0; i < names.size(); i += 97) {
    const std::string function = names[i].untrusted_function;
    std::string folded;
    for (const char c : LowerCase(function)) {
      if (c >= ' ') folded += c;
      if (c < ' ' && !folded.ends_with('?')) folded += '?';
    }
    EXPECT_TRUE(tree.Near(" " + folded).contains(function)) << folded;
    for (std::size_t at = 1; at < folded.size(); ++at) {
      if (folded[at] == ' ') continue;
      EXPECT_TRUE(tree.Near(folded.substr(at)).contains(function)) << folded << " at " << at;
      EXPECT_TRUE(tree.Near(folded.substr(at, 1)).contains(function)) << folded << " at " << at;
    }
  }
  EXPECT_TRUE(tree.Near(" libsame499").contains("same"));
  EXPECT_TRUE(tree.Near("same499").contains("same"));
}

TEST(SiteNamesTest, FilesAreSmallHoweverManyNamesThereAre) {
  std::vector<SiteName> names;
  for (int i = 0; i < 20'000; ++i) {
    names.push_back(NameOf("libn.so.1", "name_" + std::to_string(i) + "_of_many"));
  }
  Tree tree(names);
  for (const auto& [path, bytes] : tree.files()) {
    EXPECT_LE(bytes.size(), kSiteNodeBytes + kLongestEntry) << path;
  }
  EXPECT_TRUE(tree.Near("_19999_").contains("name_19999_of_many"));
  EXPECT_LE(tree.loaded(), 5 * kSiteNodeBytes) << "one or two nodes of each level";
}

TEST(SiteNamesTest, HostileNamesAreText) {
  const std::string markup = "</script><img>\xff\xe2\x80\xa8";
  std::vector<SiteName> names = {NameOf(markup, markup), NameOf("", ""), NameOf("lib", " "),
                                 NameOf("libq.so", std::string(5'000, 'q'))};
  names.back().untrusted_function = "q(...)";
  Tree tree(names);
  EXPECT_EQ(tree.files().size(), 1U) << "long names are found by their beginnings";
  EXPECT_THAT(tree.files().begin()->second, Not(HasSubstr("<")));
  EXPECT_THAT(tree.files().begin()->second, Not(HasSubstr("\xe2\x80\xa8")));
}

TEST(SiteNamesTest, ReturnsTheErrorOfWriting) {
  const std::vector<SiteName> names = {NameOf("libz.so.1", "crc32")};
  const auto root = WriteSiteNames(names, [](const std::string&, const std::string&) -> Status {
    return Fail(ErrorCode::kIo, "no space");
  });
  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().message, "no space");
}

}  // namespace
}  // namespace fieldcost::report
