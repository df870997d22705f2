#pragma once

void tally_once(void);
void tally_often(void);
void tally_always(void);
void tally_spin(long rounds);
void tally_allocate(long bytes);  // once, and frees it
double tally_real(double value);  // value + 1
long double tally_long_real(long double value);
