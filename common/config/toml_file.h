#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::config {

// Strict reader of a TOML configuration file. Each key is read once, as "table.key" or, in an array
// of tables, as "array.0.key"; Finish() then refuses every key that was not read. All errors are
// kInvalidArgument and name file, line and column, the key, and what was expected. Not thread-safe.
class TomlFile {
 public:
  // kNotFound / kPermissionDenied if it cannot be read, kInvalidArgument if it is not TOML.
  static Result<TomlFile> Load(const std::filesystem::path& path);
  // For tests and built-in defaults. `name` replaces the path in messages.
  static Result<TomlFile> Parse(std::string_view text, std::string_view name);
  TomlFile(TomlFile&&) noexcept;
  TomlFile& operator=(TomlFile&&) noexcept;
  ~TomlFile();

  // Each leaves `value` unchanged (the default) if the key is absent. The first error is kept and
  // returned by Finish(), so callers need not check each call.
  void ReadString(std::string_view key, std::string& value);
  void ReadPath(std::string_view key,
                std::filesystem::path& value);  // relative to the file's folder
  void ReadUint(std::string_view key, std::uint64_t min, std::uint64_t max, std::uint64_t& value);
  template <typename Number>  // any integer type that holds `max`
  void ReadNumber(std::string_view key, std::uint64_t min, std::uint64_t max, Number& value) {
    auto wide = static_cast<std::uint64_t>(value);
    ReadUint(key, min, max, wide);
    value = static_cast<Number>(wide);
  }
  void ReadDouble(std::string_view key, double min, double max, double& value);
  void ReadBool(std::string_view key, bool& value);
  void ReadStrings(std::string_view key, std::vector<std::string>& value);  // none of them empty

  // The size of an array of tables ([[key]]); 0 if absent.
  std::size_t CountTables(std::string_view key);

  // Whether the file has the key, with any value. Does not count as reading it.
  bool Has(std::string_view key) const;

  // Reports a value as invalid, for a reason that the functions above cannot know, at the key's
  // position. For a missing key, reports the table's position; an unknown key then takes
  // precedence, because it may be the missing one, misspelt.
  void Refuse(std::string_view key, std::string_view why);

  // Returns the first of these errors: an invalid value, an unknown key (with the nearest known
  // one), a missing key. Otherwise success.
  Status Finish();

 private:
  struct State;
  explicit TomlFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::config
