#include "agent/intercept/text_builder.h"

#include <string.h>

namespace fieldcost::intercept {

const char* EnvironmentValue(char** environment, const char* name) {
  const size_t bytes = strlen(name);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (strncmp(*environment, name, bytes) == 0 && (*environment)[bytes] == '=') {
      return *environment + bytes + 1;
    }
  }
  return "";
}

size_t PartBytes(const char* list) {
  size_t bytes = 0;
  while (list[bytes] != '\0' && list[bytes] != ',') ++bytes;
  return bytes;
}

const char* FindChar(const char* text, size_t bytes, char c) {
  for (size_t i = 0; i < bytes; ++i) {
    if (text[i] == c) return text + i;
  }
  return nullptr;
}

const char* AfterText(const char* text, const char* key) {
  const size_t bytes = strlen(key);
  for (; *text != '\0'; ++text) {
    if (strncmp(text, key, bytes) == 0) return text + bytes;
  }
  return nullptr;
}

const char* FileNameOf(const char* path) {
  const char* name = path;
  for (; *path != '\0'; ++path) {
    if (*path == '/') name = path + 1;
  }
  return name;
}

bool GlobMatches(const char* pattern, size_t pattern_bytes, const char* text, size_t text_bytes) {
  size_t p = 0;
  size_t t = 0;
  size_t star = pattern_bytes;  // position of the last '*', if any
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

bool NamesApi(const char* list, const char* module, const char* symbol) {
  char name[512];
  TextBuilder builder(name, sizeof name);
  builder.Add(module).Add("!").Add(symbol);
  if (!builder.ok()) return false;
  const size_t bytes = strlen(name);
  while (*list != '\0') {
    const size_t part = PartBytes(list);
    if (GlobMatches(list, part, name, bytes)) return true;
    list += part;
    if (*list == ',') ++list;
  }
  return false;
}

}  // namespace fieldcost::intercept
