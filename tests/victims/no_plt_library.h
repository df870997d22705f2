#pragma once

// Functions that no_plt.c calls; each returns its argument plus a different number.

#ifdef __cplusplus
extern "C" {
#endif

int no_plt_called(int value);
int no_plt_jumped_to(int value);
int no_plt_compared(int value);
int no_plt_stored(int value);
int no_plt_passed(int value);
int no_plt_in_data(int value);
int no_plt_only_pointed_to(int value);

#ifdef __cplusplus
}
#endif
