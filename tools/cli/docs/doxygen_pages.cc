#include "tools/cli/docs/doxygen_pages.h"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <filesystem>
#include <sstream>
#include <utility>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::cli {
namespace {

using boost::property_tree::ptree;

// Returns the position after the tag that begins with '<' at `at`, ignoring '>' in quotes, comments
// and the like; npos if the tag does not end.
std::size_t EndOfTag(std::string_view untrusted_xml, std::size_t at) {
  for (const auto& [begin, end] : {std::pair<std::string_view, std::string_view>{"<!--", "-->"},
                                   {"<![CDATA[", "]]>"},
                                   {"<?", "?>"}}) {
    if (!untrusted_xml.substr(at).starts_with(begin)) continue;
    const std::size_t found = untrusted_xml.find(end, at + begin.size());
    return found == std::string_view::npos ? found : found + end.size();
  }
  char quote = 0;
  for (; at < untrusted_xml.size(); ++at) {
    const char c = untrusted_xml[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// The parser recurses into elements, so deep nesting would overflow the stack.
bool IsTooDeep(std::string_view untrusted_xml) {
  std::size_t depth = 0;
  for (std::size_t at = untrusted_xml.find('<'); at != std::string_view::npos;
       at = untrusted_xml.find('<', at)) {
    const std::size_t end = EndOfTag(untrusted_xml, at);
    if (end == std::string_view::npos) return false;  // the parser will not find one either
    const char next = untrusted_xml[at + 1];
    if (next == '/') {
      depth -= depth == 0 ? 0 : 1;
    } else if (next != '?' && next != '!' && untrusted_xml[end - 2] != '/') {
      if (++depth > kMaxTagDepth) return true;
    }
    at = end;
  }
  return false;
}

bool IsBelow(const std::filesystem::path& untrusted_path) {
  if (untrusted_path.empty() || untrusted_path.is_absolute()) return false;
  for (const std::filesystem::path& part : untrusted_path) {
    if (part == "..") return false;
  }
  return true;
}

// Files and groups list global functions; all other kinds are scopes.
bool IsScope(const std::string& kind) {
  return kind == "class" || kind == "struct" || kind == "union" || kind == "namespace";
}

Status ReadMembers(const ptree& compound, std::vector<DocumentedFunction>& functions) {
  const std::string scope = IsScope(compound.get<std::string>("<xmlattr>.kind", ""))
                                ? compound.get<std::string>("name", "") + "::"
                                : "";
  for (const auto& [element, member] : compound) {
    if (element != "member" || member.get<std::string>("<xmlattr>.kind", "") != "function") {
      continue;
    }
    DocumentedFunction function{.name = scope + member.get<std::string>("name", ""),
                                .page = member.get<std::string>("anchorfile", ""),
                                .anchor = member.get<std::string>("anchor", "")};
    if (function.page.empty() || function.anchor.empty()) continue;
    if (!IsBelow(function.page)) {
      return Fail(ErrorCode::kCorrupt, "the page of {} is not in the directory", function.name);
    }
    functions.push_back(std::move(function));
  }
  return {};
}

}  // namespace

Result<std::vector<DocumentedFunction>> ReadTagFile(std::string_view untrusted_xml) {
  if (untrusted_xml.size() > kMaxTagFileBytes) {
    return Fail(ErrorCode::kTooLarge, "the tag file has more than {} bytes", kMaxTagFileBytes);
  }
  if (IsTooDeep(untrusted_xml)) return Fail(ErrorCode::kCorrupt, "elements are nested too deep");
  std::vector<DocumentedFunction> functions;
  try {
    std::istringstream stream{std::string(untrusted_xml)};
    ptree tree;
    boost::property_tree::read_xml(stream, tree, boost::property_tree::xml_parser::no_comments);
    const auto tags = tree.get_child_optional("tagfile");
    if (!tags) return Fail(ErrorCode::kCorrupt, "it has no <tagfile>");
    for (const auto& [element, compound] : *tags) {
      if (element != "compound") continue;
      FIELDCOST_TRY(ReadMembers(compound, functions));
    }
  } catch (const boost::property_tree::ptree_error& error) {
    return Fail(ErrorCode::kCorrupt, "it is not XML written by Doxygen: {}", error.what());
  }
  return functions;
}

PageWithCards InsertCards(std::string_view untrusted_html,
                          const std::map<std::string, std::string>& card_of) {
  constexpr std::string_view kAnchor = "<a id=\"";
  constexpr std::string_view kDescription = "<div class=\"memdoc\">\n";
  PageWithCards page{.html = report::WithoutCards(untrusted_html), .cards = 0};
  const std::string_view before = page.html;
  std::string after;
  std::size_t copied = 0;
  for (std::size_t at = before.find(kAnchor); at != std::string_view::npos;) {
    const std::size_t name = at + kAnchor.size();
    const std::size_t next = before.find(kAnchor, name);
    const std::string anchor(before.substr(name, before.find('"', name) - name));
    const auto card = card_of.find(anchor);
    // Searches only up to the next anchor, because a page may have very many.
    const std::size_t description = before.substr(0, next).find(kDescription, name);
    if (card != card_of.end() && description != std::string_view::npos) {
      const std::size_t begin = description + kDescription.size();
      after.append(before.substr(copied, begin - copied)).append(card->second);
      copied = begin;
      ++page.cards;
    }
    at = next;
  }
  after.append(before.substr(copied));
  page.html = std::move(after);
  return page;
}

}  // namespace fieldcost::cli
