// A preload library that does nothing: the floor for process start.
__attribute__((constructor)) static void Start() {}
