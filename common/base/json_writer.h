#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fieldcost {

// Writes JSON piece by piece and inserts the commas. All our JSON is written by it, so that texts
// are escaped, invalid UTF-8 is replaced, and numbers are formatted in one way
// (tests/style/shape.py). Not thread-safe. REQUIRES: every object and array that is opened is
// closed.
class JsonWriter {
 public:
  enum class Place {
    kAnywhere,
    kHtmlScript,  // also escapes what has a meaning in HTML, even within a script element
  };

  JsonWriter() = default;
  explicit JsonWriter(Place place) : place_(place) {}

  JsonWriter& Object() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& Array() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);             // of the next value; escaped
  JsonWriter& Text(std::string_view untrusted_text);  // escaped
  JsonWriter& Number(std::integral auto value) { return Raw(std::to_string(value)); }
  JsonWriter& Number(double value);             // null if it is not finite
  JsonWriter& NumberText(std::uint64_t value);  // "123": exact where a double is not
  JsonWriter& Bool(bool truth);
  JsonWriter& Null();
  JsonWriter& Microseconds(std::uint64_t ns);  // 1.234, exact
  JsonWriter& Milliseconds(std::uint64_t ns);  // 1.234567, exact
  // Begins a line before the next key, value or closing bracket.
  JsonWriter& NewLine();

  // Null, true or false, a number, or a text.
  template <typename Value>
  JsonWriter& Any(const Value& value) {
    if constexpr (std::same_as<Value, std::nullptr_t>)
      return Null();
    else if constexpr (std::same_as<Value, bool>)
      return Bool(value);
    else if constexpr (std::integral<Value> || std::floating_point<Value>)
      return Number(value);
    else
      return Text(value);
  }

  // A key and its value.
  template <typename Value>
  JsonWriter& Member(std::string_view name, const Value& value) {
    return Key(name).Any(value);
  }

  // The bytes written so far.
  std::size_t size() const { return json_.size(); }

  // Returns the JSON and a newline.
  std::string Take();
  std::string TakeValue();  // without the newline

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  JsonWriter& Raw(std::string_view value);
  JsonWriter& Fixed(std::uint64_t value, std::uint64_t one);  // value / one; a power of 10
  void Quote(std::string_view untrusted_text);
  void Separate();

  std::string json_;
  std::size_t open_ = 0;  // objects and arrays
  Place place_ = Place::kAnywhere;
  bool needs_comma_ = false;
  bool needs_line_ = false;
};

}  // namespace fieldcost
