#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fieldcost {

// Writes JSON piece by piece and inserts the commas. Not thread-safe. REQUIRES: every object and
// array that is opened is closed.
class JsonWriter {
 public:
  JsonWriter& Object() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& Array() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view literal);          // of the next value
  JsonWriter& Text(std::string_view untrusted_text);  // escaped
  JsonWriter& Number(std::uint64_t value);
  JsonWriter& NumberText(std::uint64_t value);  // "123": exact where a double is not
  JsonWriter& Bool(bool truth);
  JsonWriter& Microseconds(std::uint64_t ns);  // 1.234, exact

  // Returns the JSON and a newline.
  std::string Take();

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  JsonWriter& Raw(std::string_view value);
  void Separate();

  std::string json_;
  std::size_t open_ = 0;  // objects and arrays
  bool needs_comma_ = false;
};

}  // namespace fieldcost
