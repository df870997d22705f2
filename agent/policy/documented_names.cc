#include "agent/policy/documented_names.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/shm/mix.h"
#include "common/shm/policy_file.h"

namespace fieldcost::policy {
namespace {

using std::chrono::steady_clock;
using std::filesystem::path;

constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kLeastBytes = 64;
constexpr std::size_t kBytesPerName = 2;

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && !IsDigit(text[0]) &&
         AreAll(text, IsWordCharacter);
}

// Removes and returns the last token of a text (a word or a single character), and removes the
// white space after it. Empty at the end.
std::string_view TakeLastToken(std::string_view& text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n\\") + 1);
  std::size_t begin = text.size();
  while (begin > 0 && IsWordCharacter(text[begin - 1])) --begin;
  if (begin == text.size() && begin > 0) --begin;
  const std::string_view token = text.substr(begin);
  text = text.substr(0, begin);
  return token;
}

struct Entry {
  path file;
  std::filesystem::file_status status;  // without following links
};

// The entries of a directory, ascending, at most `most`, which is reduced by their number.
std::vector<Entry> EntriesOf(const path& directory, std::size_t& most) {
  std::vector<Entry> entries;
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::directory_iterator() && most != 0; at.increment(error)) {
    std::error_code ignored;
    entries.push_back({at->path(), at->symlink_status(ignored)});
    --most;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.file < b.file; });
  return entries;
}

// The remaining limits.
struct Budget {
  DocumentationLimits left;
  steady_clock::time_point end;
};

// The numbers of names. Not the names: a hundred thousand of them would need more memory than the
// rest of the daemon.
class Numbers {
 public:
  void Add(const NameSet& names) {
    for (const std::string& name : names) {
      numbers_.push_back(shm::DocumentedNumber(name.c_str()));
    }
    if (numbers_.size() > 2 * different_ + kSpare) RemoveRepeated();
  }
  std::vector<std::uint64_t> Take() {
    RemoveRepeated();
    return std::move(numbers_);
  }

 private:
  static constexpr std::size_t kSpare = 1 << 14;

  void RemoveRepeated() {
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    different_ = numbers_.size();
  }

  std::vector<std::uint64_t> numbers_;
  std::size_t different_ = 0;  // at the last count
};

void ReadHeader(const path& file, Budget& budget, Numbers& numbers) {
  --budget.left.files;
  const auto untrusted_text = ReadFile(file, std::min(budget.left.file_bytes, budget.left.bytes));
  if (!untrusted_text) return;
  budget.left.bytes -= untrusted_text->size();
  NameSet names;
  AddHeaderNames(*untrusted_text, names);
  numbers.Add(names);
}

void AddHeaders(const path& root, Budget& budget, Numbers& numbers) {
  struct Directory {
    path directory;
    std::size_t depth;
  };
  std::deque<Directory> waiting = {{root, 0}};
  for (; !waiting.empty(); waiting.pop_front()) {
    const Directory current = waiting.front();
    for (const Entry& entry : EntriesOf(current.directory, budget.left.entries)) {
      if (budget.left.files == 0 || steady_clock::now() >= budget.end) return;
      if (std::filesystem::is_directory(entry.status) && current.depth < budget.left.depth) {
        waiting.push_back({entry.file, current.depth + 1});
      } else if (std::filesystem::is_regular_file(entry.status) && entry.file.extension() == ".h") {
        ReadHeader(entry.file, budget, numbers);
      }
    }
  }
}

// A number that almost certainly changes if one of the directories changes; never 0.
std::uint32_t SourceOf(const settings::AgentPaths& paths) {
  std::uint64_t hash = shm::kEmptyHash;
  const auto add = [&hash](const path& directory) {
    hash = shm::HashText(directory.c_str(), hash);
    hash = shm::HashNumber(static_cast<std::uint64_t>(runs::ChangeNs(directory)), hash);
  };
  std::size_t most = DocumentationLimits().entries;
  for (const path& directory : paths.manual_dirs) add(directory);
  for (const path& directory : paths.header_dirs) {
    add(directory);
    for (const Entry& entry : EntriesOf(directory, most)) {
      if (std::filesystem::is_directory(entry.status)) add(entry.file);
    }
  }
  return std::max(static_cast<std::uint32_t>(shm::FinaliseBits(hash)), 1U);
}

}  // namespace

void AddHeaderNames(std::string_view untrusted_text, NameSet& names) {
  const auto add = [&names](std::string_view name) {
    if (IsName(name) && name[0] != '_') names.emplace(name);
  };
  for (std::size_t at = untrusted_text.find('('); at != std::string_view::npos;
       at = untrusted_text.find('(', at + 1)) {
    std::string_view before = untrusted_text.substr(0, at);
    const std::string_view last = TakeLastToken(before);
    add(last);
    if (last == "," || last == ")") add(TakeLastToken(before));
    if (last == "(" && IsName(TakeLastToken(before))) add(TakeLastToken(before));
  }
}

std::vector<std::uint64_t> FindDocumentedNames(const settings::AgentPaths& paths,
                                               const DocumentationLimits& limits) {
  Numbers numbers;
  NameSet pages;
  Budget budget{.left = limits, .end = steady_clock::now() + limits.time};
  for (const path& directory : paths.manual_dirs) {
    for (const Entry& entry : EntriesOf(directory, budget.left.entries)) {
      const std::string file = entry.file.filename();
      const std::string name = file.substr(0, file.find('.'));
      if (IsName(name)) pages.insert(name);
    }
  }
  numbers.Add(pages);
  for (const path& directory : paths.header_dirs) AddHeaders(directory, budget, numbers);
  return numbers.Take();
}

std::string DocumentedBits(const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return {};
  const std::size_t bytes = std::clamp<std::size_t>(std::bit_ceil(numbers.size() * kBytesPerName),
                                                    kLeastBytes, shm::kMaxDocumentedBytes);
  std::string bits(bytes, '\0');
  for (const std::uint64_t number : numbers) {
    const std::uint64_t bit = shm::DocumentedBit(number, static_cast<std::uint32_t>(bits.size()));
    bits[bit / 8] = static_cast<char>(bits[bit / 8] | 1 << (bit % 8));
  }
  return bits;
}

std::optional<runs::DocumentedNames> ChooseDocumentedNames(const settings::AgentPaths& paths) {
  // Determined first, so that a change during the search is noticed next time.
  const std::uint32_t source = SourceOf(paths);
  if (runs::LoadPresentPolicy(paths).documented_source == source) return std::nullopt;
  return runs::DocumentedNames{.bits = DocumentedBits(FindDocumentedNames(paths)),
                               .source = source};
}

}  // namespace fieldcost::policy
