#pragma once

void tally_once(void);
void tally_often(void);
void tally_always(void);
void tally_spin(long rounds);
