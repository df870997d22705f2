#include "agent/probe_preload/traceparent.h"

namespace fieldcost::probe_preload {
namespace {

// Accepts only lower case, as in the standard. Returns false if a character is not such a digit.
bool ReadHex(const char* untrusted_text, int digits, uint64_t* value) {
  *value = 0;
  for (int i = 0; i < digits; ++i) {
    const char c = untrusted_text[i];
    uint64_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint64_t>(c - 'a') + 10;
    } else {
      return false;
    }
    *value = *value << 4 | digit;
  }
  return true;
}

char* AddHex(char* at, uint64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i) *at++ = "0123456789abcdef"[(value >> (4 * i)) & 15];
  return at;
}

}  // namespace

bool ReadTraceparent(const char* untrusted_text, shm::ProbeEventId* event, uint64_t* parent) {
  uint64_t version = 0;
  uint64_t flags = 0;
  // Each step reads no further than the previous one has verified.
  if (!ReadHex(untrusted_text, 2, &version) || version == 255 || untrusted_text[2] != '-' ||
      !ReadHex(untrusted_text + 3, 16, &event->run) ||
      !ReadHex(untrusted_text + 19, 16, &event->number) || untrusted_text[35] != '-' ||
      !ReadHex(untrusted_text + 36, 16, parent) || untrusted_text[52] != '-' ||
      !ReadHex(untrusted_text + 53, 2, &flags)) {
    return false;
  }
  const char next = untrusted_text[kTraceparentBytes];
  if (next != '\0' && (version == 0 || next != '-')) return false;
  return event->run != 0 && *parent != 0;
}

void WriteTraceparent(const shm::ProbeEventId& event, uint64_t parent,
                      char (&text)[kTraceparentBytes + 1]) {
  char* at = AddHex(text, 0, 2);
  *at++ = '-';
  at = AddHex(AddHex(at, event.run, 16), event.number, 16);
  *at++ = '-';
  at = AddHex(at, parent, 16);
  *at++ = '-';
  at = AddHex(at, 1, 2);
  *at = '\0';
}

}  // namespace fieldcost::probe_preload
