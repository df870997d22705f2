#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fieldcost::intercept {

inline constexpr size_t kMaxPath = 1024;

// Builds text in a caller's buffer; ok() is false, and the text truncated, if it does not fit.
class TextBuilder {
 public:
  TextBuilder(char* buffer, size_t bytes) : at_(buffer), end_(buffer + bytes) { *at_ = '\0'; }

  TextBuilder& Add(const char* text) {
    while (*text != '\0') AddChar(*text++);
    return *this;
  }
  TextBuilder& AddHex(uint64_t value) {
    for (int shift = 60; shift >= 0; shift -= 4) AddChar("0123456789abcdef"[(value >> shift) & 15]);
    return *this;
  }
  bool ok() const { return ok_; }

 private:
  void AddChar(char c) {
    if (at_ + 1 == end_) {
      ok_ = false;
      return;
    }
    *at_++ = c;
    *at_ = '\0';
  }

  char* at_;
  char* end_;
  bool ok_ = true;
};

// Copies a terminated text, truncated if necessary. Each byte is written once: if two threads copy
// the same text to one place, it is intact at any time.
template <size_t kBytes>
void CopyText(char (&to)[kBytes], const char* from) {
  size_t i = 0;
  for (; i + 1 < kBytes && from[i] != '\0'; ++i) to[i] = from[i];
  to[i] = '\0';
}

// Returns the variable's value in an environment; "" if unset.
const char* EnvironmentValue(char** environment, const char* name);

// Returns the length of the first comma-separated part of `list`.
size_t PartBytes(const char* list);

// Returns the first `c` in the first `bytes` of `text`; null if none.
const char* FindChar(const char* text, size_t bytes, char c);

// Returns the text after the first `key` in `text`; null if none.
const char* AfterText(const char* text, const char* key);

// Returns a path without its directories.
const char* FileNameOf(const char* path);

// Matches text[0, text_bytes) like a shell: '*' any run of characters, '?' any one character.
bool GlobMatches(const char* pattern, size_t pattern_bytes, const char* text, size_t text_bytes);

// Returns whether one of the comma-separated globs in `list` matches "module!symbol".
bool NamesApi(const char* list, const char* module, const char* symbol);

}  // namespace fieldcost::intercept
