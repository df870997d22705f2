// Calls a function of which there are two versions, without saying which: linked without the
// library that has them.

int versioned_value(void);

__attribute__((visibility("default"))) int unversioned_run(void) { return versioned_value(); }
