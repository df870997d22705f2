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

// Strict reader of a TOML configuration file. Each key is asked for once, by "table.key", or, in a
// table of an array of tables, by "array.0.key"; Finish()
// then refuses every key nobody asked for. All errors are kInvalidArgument and name file, line and
// column, the key, and what is expected there. Not thread-safe.
class TomlFile {
 public:
  // kNotFound / kPermissionDenied if it cannot be read, kInvalidArgument if it is not TOML.
  static Result<TomlFile> Load(const std::filesystem::path& path);
  // Serves tests and built-in defaults. `name` stands for the path in messages.
  static Result<TomlFile> Parse(std::string_view text, std::string_view name);
  TomlFile(TomlFile&&) noexcept;
  TomlFile& operator=(TomlFile&&) noexcept;
  ~TomlFile();

  // Each leaves `value` as it is (the default) if the key is absent. The first error is kept and
  // returned by Finish(), so that calls can follow each other without checks.
  void ReadString(std::string_view key, std::string& value);
  void ReadPath(std::string_view key,
                std::filesystem::path& value);  // relative: to the file's folder
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

  // How many tables an array of tables ([[key]]) has; 0 if there is none.
  std::size_t CountTables(std::string_view key);

  // Whether the file has the key, whatever its value. Does not count as asking for it.
  bool Has(std::string_view key) const;

  // Reports a value that is wrong for a reason the readers above cannot know, at the key's place.
  // Of a key that is not there, at its table's; an unknown key, as which it may be misspelt, counts
  // before that.
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
