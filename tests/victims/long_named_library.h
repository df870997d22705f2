#pragma once

#define LONG_NAMED_TEN(text) text text text text text text text text text text

void long_named_short(void);
// Linkers see a name of 311 letters.
void long_named_long(void) __asm__("long_named_" LONG_NAMED_TEN(LONG_NAMED_TEN("abc")));
