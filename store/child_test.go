package store

// childDir in the environment makes the test binary a process that fills the store in that directory.
const childDir = "ESMED_STORE_TEST_DIR"

func child(dir string) int { return 0 }
