#include "tools/report/cards/site_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/ascii.h"
#include "common/base/check.h"
#include "common/base/json_writer.h"

namespace fieldcost::report {
namespace {

constexpr std::string_view kLibraryPrefix = "lib";

std::string Folded(std::string_view untrusted_name) {
  std::string folded;
  for (const char c : untrusted_name.substr(0, kMaxSearchedBytes)) {
    if (c >= ' ' && c <= '~') {
      folded += LowerCase(c);
    } else if (!folded.ends_with('?')) {
      folded += '?';
    }
  }
  return folded;
}

// The key is the rest of the name's text from this position on.
struct Key {
  std::uint32_t name = 0;
  std::uint16_t begin = 0;
};
static_assert(2 * kMaxSearchedBytes + 8 < 65'536);

class Keys {
 public:
  explicit Keys(std::span<const SiteName> names) {
    for (const SiteName& name : names) Add(name);
    std::sort(keys_.begin(), keys_.end(), [this](const Key& a, const Key& b) {
      return std::forward_as_tuple(TextOf(a), a.name) < std::forward_as_tuple(TextOf(b), b.name);
    });
  }

  const std::vector<Key>& keys() const { return keys_; }
  std::string_view TextOf(const Key& key) const {
    return std::string_view(texts_[key.name]).substr(key.begin);
  }

 private:
  // " libz.so.1! inflate": the spaces mark where names begin.
  void Add(const SiteName& name) {
    const std::string soname = Folded(name.untrusted_soname);
    const std::string text = " " + soname + "! " + Folded(name.untrusted_searched);
    const auto number = static_cast<std::uint32_t>(texts_.size());
    const auto add = [&](std::size_t begin) {
      keys_.push_back({number, static_cast<std::uint16_t>(begin)});
    };
    add(0);
    if (soname.starts_with(kLibraryPrefix)) add(1 + kLibraryPrefix.size());
    const std::size_t begin = soname.size() + 2;
    add(begin);
    for (std::size_t at = begin + 2; at < text.size(); ++at) {
      if (text[at] != ' ') add(at);  // words of queries contain no spaces
    }
    texts_.push_back(text);
  }

  std::vector<std::string> texts_;
  std::vector<Key> keys_;
};

// The shortest key that is not below `first` and, unless it is equal, above `last`.
std::string Separator(std::string_view last, std::string_view first) {
  const auto differ = std::mismatch(last.begin(), last.end(), first.begin(), first.end());
  const auto same = static_cast<std::size_t>(differ.second - first.begin());
  return std::string(first.substr(0, std::min(same + 1, first.size())));
}

class NodeWriter {
 public:
  explicit NodeWriter(const WriteSiteFile& write) : write_(write) {}

  Status Write(std::size_t level, std::size_t number, JsonWriter& content) {
    const std::string id = fmt::format("{}/{}", level, number);
    return write_("~search/" + id + ".js",
                  fmt::format("siteNode(\"{}\",{});\n", id, content.TakeValue()));
  }

 private:
  const WriteSiteFile& write_;
};

void WriteEntry(const SiteName& name, JsonWriter& json) {
  const bool usual = name.page == name.untrusted_soname + "/" + name.untrusted_function + ".html";
  json.NewLine().Array().Text(name.untrusted_function).Text(name.untrusted_soname);
  json.Text(usual ? "" : name.page).Text(name.cost).EndArray();
}

// Writes level 0; returns the first key of each node.
Result<std::vector<std::string>> WriteLeaves(std::span<const SiteName> names, NodeWriter& writer) {
  const Keys keys(names);
  std::vector<std::string> firsts;
  std::vector<std::uint32_t> in_node;  // a name may have several keys in one node
  JsonWriter json(JsonWriter::Place::kHtmlScript);
  std::string_view last;
  for (const Key& key : keys.keys()) {
    if (json.size() >= kSiteNodeBytes) {
      json.EndArray();
      FIELDCOST_TRY(writer.Write(0, firsts.size() - 1, json));
      json = JsonWriter(JsonWriter::Place::kHtmlScript);
      in_node.clear();
    }
    if (json.size() == 0) {
      firsts.push_back(Separator(last, keys.TextOf(key)));
      json.Array();
    }
    last = keys.TextOf(key);
    if (std::find(in_node.begin(), in_node.end(), key.name) != in_node.end()) continue;
    in_node.push_back(key.name);
    WriteEntry(names[key.name], json);
  }
  json.EndArray();
  FIELDCOST_TRY(writer.Write(0, firsts.size() - 1, json));
  return firsts;
}

// Writes a level above nodes that begin with `keys`; returns the first key of each new node.
Result<std::vector<std::string>> WriteLevel(std::size_t level, const std::vector<std::string>& keys,
                                            NodeWriter& writer) {
  std::vector<std::string> firsts;
  for (std::size_t i = 0; i < keys.size();) {
    JsonWriter json(JsonWriter::Place::kHtmlScript);
    firsts.push_back(keys[i]);
    json.Array().Number(i).Array();
    // At least two, so that each level has fewer nodes than the one below.
    const std::size_t begin = i;
    while (i < keys.size() && (i < begin + 2 || json.size() < kSiteNodeBytes)) json.Text(keys[i++]);
    json.EndArray().EndArray();
    FIELDCOST_TRY(writer.Write(level, firsts.size() - 1, json));
  }
  return firsts;
}

}  // namespace

Result<std::string> WriteSiteNames(std::span<const SiteName> names, const WriteSiteFile& write) {
  FIELDCOST_CHECK(!names.empty());
  NodeWriter writer(write);
  FIELDCOST_ASSIGN(std::vector<std::string> keys, WriteLeaves(names, writer));
  std::size_t level = 0;
  while (keys.size() > 1) {
    FIELDCOST_ASSIGN(keys, WriteLevel(++level, keys, writer));
  }
  return fmt::format("{}/0", level);
}

}  // namespace fieldcost::report
