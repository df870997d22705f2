// A library of somebody's own: without a soname, in no package, and with names to look for.

__attribute__((visibility("default"))) int canaryown_work(int value) { return value + 1; }

__attribute__((visibility("default"))) int canaryown_idle(void) { return 0; }
