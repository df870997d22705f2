#include "common/catalog/name_search.h"

#include <algorithm>
#include <array>
#include <set>

#include "common/base/ascii.h"
#include "common/base/check.h"
#include "common/base/text.h"
#include "common/names/cxx_name.h"

namespace fieldcost::catalog {
namespace {

constexpr std::size_t kGram = 3;       // characters; SQLite's trigram tokenizer has no other size
constexpr std::size_t kMaxGrams = 24;  // in a query; more would select hardly less
constexpr std::string_view kCommonGrams[] = {"lib", ".so", "so."};  // of nearly all sonames

// Moves a soname's characters to the private use area from U+E000 on, so that its trigrams differ
// from those of symbols. Sonames are ASCII; any other byte becomes U+E000, which no query contains.
std::string SonameText(std::string_view soname) {
  std::string text;
  text.reserve(soname.size() * 3);
  for (const char c : soname) {
    const auto byte = static_cast<unsigned char>(LowerCase(c));
    const unsigned code = byte < 0x80 ? byte : 0;
    text += '\xee';
    text += static_cast<char>(0x80 + (code >> 6));
    text += static_cast<char>(0x80 + (code & 0x3f));
  }
  return text;
}

// Replaces bytes that are not UTF-8: the demangler can divide a character.
std::string ValidText(std::string_view untrusted_text) {
  std::string text;
  for (std::size_t at = 0; at < untrusted_text.size();) {
    const CodePoint point = FirstCodePoint(untrusted_text.substr(at));
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    text += point.bytes == 0 ? std::string_view(" ") : untrusted_text.substr(at, bytes);
    at += bytes;
  }
  return text;
}

// In lower case; empty if it is the symbol.
std::string ShortNameText(std::string_view symbol) {
  if (!names::IsCxxSymbol(symbol)) return "";
  const std::string name = names::ShortName(symbol);
  return name == symbol ? "" : ValidText(LowerCase(name));
}

void AddQuoted(std::string_view gram, std::set<std::string>& quoted) {
  std::string text = "\"";
  for (const char c : gram) text += c == '"' ? "\"\"" : std::string(1, c);
  quoted.insert(text + '"');
}

// Calls visit(gram) for each three consecutive valid characters of `untrusted_text`. The text may
// begin or end inside a character.
template <typename Visitor>
void ForEachGram(std::string_view untrusted_text, const Visitor& visit) {
  std::array<std::size_t, kGram> begins{};  // of the last characters, in turn
  std::size_t consecutive = 0;
  for (std::size_t at = 0; at < untrusted_text.size();) {
    const CodePoint point = FirstCodePoint(untrusted_text.substr(at));
    if (point.bytes == 0 || point.value == 0) {
      consecutive = 0;
      ++at;
      continue;
    }
    begins[consecutive++ % kGram] = at;
    at += point.bytes;
    if (consecutive < kGram) continue;
    const std::size_t begin = begins[consecutive % kGram];
    visit(untrusted_text.substr(begin, at - begin));
  }
}

}  // namespace

std::string GramQuery(const NameParts& untrusted_parts) {
  std::set<std::string> quoted;
  for (const std::string& text : untrusted_parts.symbol) {
    ForEachGram(LowerCase(text), [&](std::string_view gram) {
      if (quoted.size() < kMaxGrams) AddQuoted(gram, quoted);
    });
  }
  for (const std::string& text : untrusted_parts.library) {
    ForEachGram(LowerCase(text), [&](std::string_view gram) {
      const bool selects = std::ranges::find(kCommonGrams, gram) == std::end(kCommonGrams);
      if (!selects || !AreAll(gram, [](char c) { return (c & 0x80) == 0; })) return;
      if (quoted.size() < 2 * kMaxGrams) AddQuoted(SonameText(gram), quoted);
    });
  }
  std::string query;
  for (const std::string& gram : quoted) query += (query.empty() ? "" : " AND ") + gram;
  return query;
}

Status RebuildNameSearch(sqlite::Database& database) {
  FIELDCOST_CHECK(database.InTransaction());
  FIELDCOST_TRY(
      database.Execute("DELETE FROM ranking; DELETE FROM libraries;"
                       "INSERT INTO name_grams (name_grams) VALUES ('delete-all')"));
  sqlite::Statement select = database.Prepare(
      "SELECT symbol, soname, total FROM apis INDEXED BY apis_by_name "
      "ORDER BY total DESC, symbol, soname");
  sqlite::Statement rank =
      database.Prepare("INSERT INTO ranking (rank, symbol, soname, total) VALUES (?1, ?2, ?3, ?4)");
  sqlite::Statement grams = database.Prepare(
      "INSERT INTO name_grams (rowid, symbol, short_name, soname) VALUES (?1, ?2, ?3, ?4)");
  std::set<std::string, std::less<>> libraries;
  for (std::uint64_t place = 1;; ++place) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) break;
    const std::string_view symbol = select.ColumnView(0);
    const std::string_view soname = select.ColumnView(1);
    FIELDCOST_TRY(rank.Int(place).Text(symbol).Text(soname).Int(select.ColumnInt(2)).Run());
    FIELDCOST_TRY(grams.Int(place)
                      .Text(LowerCase(symbol))
                      .Text(ShortNameText(symbol))
                      .Text(SonameText(soname))
                      .Run());
    if (!libraries.contains(soname)) libraries.emplace(soname);
  }
  sqlite::Statement library = database.Prepare("INSERT INTO libraries (soname) VALUES (?1)");
  for (const std::string& soname : libraries) FIELDCOST_TRY(library.Text(soname).Run());
  return {};
}

}  // namespace fieldcost::catalog
