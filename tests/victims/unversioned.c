// Calls a function that exists in two versions, without naming one: linked without the
// library that defines them.

int versioned_value(void);

__attribute__((visibility("default"))) int unversioned_run(void) { return versioned_value(); }
