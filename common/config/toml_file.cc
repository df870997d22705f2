#include "common/config/toml_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "common/base/ascii.h"
#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/nearest.h"
#include "common/base/text.h"
#include "common/base/units.h"

namespace fieldcost::config {
namespace {

constexpr std::size_t kMaxFileBytes = 1 * kMiB;

std::string_view KindOf(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

// A key in TOML notation: quoted unless it is bare.
std::string Spell(std::string_view untrusted_key) {
  const bool bare = !untrusted_key.empty() &&
                    AreAll(untrusted_key, [](char c) { return IsWordCharacter(c) || c == '-'; });
  return bare ? std::string(untrusted_key) : '\'' + EscapeControl(untrusted_key) + '\'';
}

std::string Join(const std::string& array, std::size_t index) {
  return array + '.' + std::to_string(index);
}

std::string Join(const std::string& table, std::string_view untrusted_key) {
  return table.empty() ? Spell(untrusted_key) : table + '.' + Spell(untrusted_key);
}

// The parser's messages already escape newlines as '\n', so their backslashes are restored.
std::string WordsOf(const toml::parse_error& error) {
  constexpr std::string_view kBackslash = "\\x5c";
  std::string words = EscapeControl(error.description());
  for (std::size_t at = 0; (at = words.find(kBackslash, at)) != std::string::npos; ++at) {
    words.replace(at, kBackslash.size(), "\\");
  }
  return words;
}

}  // namespace

struct TomlFile::State {
  std::string name;
  std::filesystem::path folder;
  toml::table root;
  std::vector<std::string> known;     // keys that were read
  std::set<const toml::node*> asked;  // nodes found by these reads
  std::set<std::string> arrays;       // arrays of tables that were read
  std::optional<Error> first_error;
  std::optional<Error> first_missing;  // for a key that is not in the file

  std::string Place(const toml::source_region& region) const {
    if (!region.begin) return name;
    return fmt::format("{}:{}:{}", name, region.begin.line, region.begin.column);
  }

  void Refuse(const toml::source_region& region, std::string_view key, std::string_view why) {
    if (first_error) return;
    first_error = Wrong(region, key, why);
  }

  Error Wrong(const toml::source_region& region, std::string_view key, std::string_view why) const {
    return Fail(ErrorCode::kInvalidArgument, "{}: {}: {}", Place(region), key, why);
  }

  // Reports a missing key at the position of its table.
  void RefuseMissing(std::string_view key, std::string_view why) {
    if (first_missing) return;
    const std::size_t dot = key.rfind('.');
    const toml::node* table = dot == std::string_view::npos ? nullptr : Find(key.substr(0, dot));
    first_missing = Wrong(table == nullptr ? toml::source_region{} : table->source(), key, why);
  }

  // The node at "table.key" or "array.0.key", or null if it is not in the file.
  const toml::node* Find(std::string_view key) const {
    const toml::node* node = &root;
    for (;;) {
      const std::size_t dot = key.find('.');
      node = Child(*node, key.substr(0, dot));
      // Finish() reports anything that is not a table.
      if (dot == std::string_view::npos || node == nullptr) return node;
      key.remove_prefix(dot + 1);
    }
  }

  static const toml::node* Child(const toml::node& node, std::string_view key) {
    if (const toml::table* table = node.as_table()) return table->get(key);
    const toml::array* array = node.as_array();
    std::size_t index = 0;
    const char* const end = key.data() + key.size();
    if (array == nullptr || std::from_chars(key.data(), end, index).ptr != end) return nullptr;
    return array->get(index);
  }

  const toml::node* Ask(std::string_view key) {
    FIELDCOST_CHECK(std::find(known.begin(), known.end(), key) == known.end());
    known.emplace_back(key);
    const toml::node* node = Find(key);
    if (node != nullptr) asked.insert(node);
    return node;
  }

  // Returns null if the value is absent, or, after reporting it, if it is not a T.
  template <typename T>
  const T* AskFor(std::string_view key, std::string_view expected) {
    const toml::node* node = Ask(key);
    if (node == nullptr) return nullptr;
    const toml::value<T>* value = node->as<T>();
    if (value != nullptr) return &value->get();
    Refuse(node->source(), key, fmt::format("expected {}, found {}", expected, KindOf(*node)));
    return nullptr;
  }

  // The keys that were read, and the tables that contain them.
  std::vector<std::string> KnownNames() const {
    std::vector<std::string> names = known;
    for (const std::string& key : known) {
      for (std::size_t dot = key.find('.'); dot != key.npos; dot = key.find('.', dot + 1)) {
        names.push_back(key.substr(0, dot));
      }
    }
    return names;
  }

  void RefuseUnknown(const toml::table& table, const std::string& path) {
    for (const auto& [key, node] : table) {
      if (first_error) return;
      if (asked.contains(&node)) continue;
      const std::string full = Join(path, key.str());
      const std::string as_table = full + '.';
      const bool holds_known_keys =
          std::any_of(known.begin(), known.end(),
                      [&](const std::string& name_) { return name_.starts_with(as_table); });
      if (!holds_known_keys) {
        const std::string meant = MeantName(full, KnownNames());
        Refuse(key.source(), full,
               meant.empty() ? std::string("unknown key")
                             : fmt::format("unknown key; the nearest known one is {}", meant));
      } else if (const toml::table* inner = node.as_table()) {
        RefuseUnknown(*inner, full);
      } else if (const toml::array* array = node.as_array();
                 array != nullptr && arrays.contains(full)) {
        for (std::size_t i = 0; i < array->size(); ++i) {
          RefuseUnknown(*array->get(i)->as_table(), Join(full, i));
        }
      } else {
        Refuse(key.source(), full, fmt::format("expected a table, found {}", KindOf(node)));
      }
    }
  }
};

TomlFile::TomlFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TomlFile::TomlFile(TomlFile&&) noexcept = default;
TomlFile& TomlFile::operator=(TomlFile&&) noexcept = default;
TomlFile::~TomlFile() = default;

Result<TomlFile> TomlFile::Load(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(const std::string text, ReadFile(path, kMaxFileBytes));
  return Parse(text, path.string());
}

Result<TomlFile> TomlFile::Parse(std::string_view text, std::string_view name) {
  auto state = std::make_unique<State>();
  state->name = EscapeControl(name);
  state->folder = std::filesystem::path(name).parent_path();
  try {
    state->root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Fail(ErrorCode::kInvalidArgument, "{}: not TOML: {}", state->Place(error.source()),
                WordsOf(error));
  }
  return TomlFile(std::move(state));
}

void TomlFile::ReadString(std::string_view key, std::string& value) {
  if (const std::string* found = state_->AskFor<std::string>(key, "a string")) value = *found;
}

void TomlFile::ReadPath(std::string_view key, std::filesystem::path& value) {
  const std::string* found = state_->AskFor<std::string>(key, "a path in quotes");
  if (found == nullptr) return;
  if (found->find('\0') != std::string::npos) {
    state_->Refuse(state_->Find(key)->source(), key, "a path has no zero byte");
    return;
  }
  value = found->empty() ? std::filesystem::path() : state_->folder / *found;
}

void TomlFile::ReadUint(std::string_view key, std::uint64_t min, std::uint64_t max,
                        std::uint64_t& value) {
  const std::string expected = fmt::format("an integer from {} to {}", min, max);
  const std::int64_t* found = state_->AskFor<std::int64_t>(key, expected);
  if (found == nullptr) return;
  if (*found < 0 || static_cast<std::uint64_t>(*found) < min ||
      static_cast<std::uint64_t>(*found) > max) {
    state_->Refuse(state_->Find(key)->source(), key,
                   fmt::format("expected {}, found {}", expected, *found));
    return;
  }
  value = static_cast<std::uint64_t>(*found);
}

void TomlFile::ReadDouble(std::string_view key, double min, double max, double& value) {
  const std::string expected = fmt::format("a number from {} to {}", min, max);
  const toml::node* node = state_->Ask(key);
  if (node == nullptr) return;
  if (!node->is_number()) {
    state_->Refuse(node->source(), key,
                   fmt::format("expected {}, found {}", expected, KindOf(*node)));
    return;
  }
  const double found = node->value<double>().value_or(std::numeric_limits<double>::quiet_NaN());
  if (!(found >= min && found <= max)) {
    state_->Refuse(node->source(), key, fmt::format("expected {}, found {}", expected, found));
    return;
  }
  value = found;
}

void TomlFile::ReadBool(std::string_view key, bool& value) {
  if (const bool* found = state_->AskFor<bool>(key, "true or false")) value = *found;
}

void TomlFile::ReadStrings(std::string_view key, std::vector<std::string>& value) {
  const toml::node* node = state_->Ask(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    state_->Refuse(node->source(), key,
                   fmt::format("expected an array of strings, found {}", KindOf(*node)));
    return;
  }
  std::vector<std::string> strings;
  for (const toml::node& element : *array) {
    const toml::value<std::string>* found = element.as_string();
    if (found == nullptr) {
      state_->Refuse(element.source(), key,
                     fmt::format("expected an array of strings, found {} in it", KindOf(element)));
      return;
    }
    if (found->get().empty()) {
      state_->Refuse(element.source(), key, "an empty string in an array of strings");
      return;
    }
    strings.push_back(found->get());
  }
  value = std::move(strings);
}

std::size_t TomlFile::CountTables(std::string_view key) {
  const toml::node* node = state_->Find(key);
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  state_->arrays.emplace(key);
  if (node == nullptr || (array != nullptr && array->empty())) return 0;
  if (array == nullptr || !array->is_array_of_tables()) {
    state_->Refuse(node->source(), key,
                   fmt::format("expected [[{}]] tables, found {}", key, KindOf(*node)));
    return 0;
  }
  return array->size();
}

bool TomlFile::Has(std::string_view key) const { return state_->Find(key) != nullptr; }

void TomlFile::Refuse(std::string_view key, std::string_view why) {
  const toml::node* node = state_->Find(key);
  if (node == nullptr) {
    state_->RefuseMissing(key, why);
  } else {
    state_->Refuse(node->source(), key, why);
  }
}

Status TomlFile::Finish() {
  state_->RefuseUnknown(state_->root, "");
  if (state_->first_error) return *state_->first_error;
  if (state_->first_missing) return *state_->first_missing;
  return {};
}

}  // namespace fieldcost::config
