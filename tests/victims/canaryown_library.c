// A user's own library: without a soname, in no package, and with names that tests search for.

__attribute__((visibility("default"))) int canaryown_work(int value) { return value + 1; }

__attribute__((visibility("default"))) int canaryown_idle(void) { return 0; }
