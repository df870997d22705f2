#include "agent/preload/text.h"

namespace fieldcost::preload {

bool GlobMatches(const char* pattern, size_t pattern_bytes, const char* text, size_t text_bytes) {
  size_t p = 0;
  size_t t = 0;
  size_t star = pattern_bytes;  // place of the last '*', if any
  size_t star_text = 0;
  while (t < text_bytes) {
    if (p < pattern_bytes && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern_bytes && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star < pattern_bytes) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern_bytes && pattern[p] == '*') ++p;
  return p == pattern_bytes;
}

}  // namespace fieldcost::preload
