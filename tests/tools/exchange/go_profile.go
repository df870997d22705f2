// Writes a profile with known counts by runtime/pprof: 5 and 2 (two lines of one function) and 3.
package main

import (
	"os"
	"runtime/pprof"
)

//go:noinline
func inner(profile *pprof.Profile, count int) {
	for i := 0; i < count; i++ {
		profile.Add(new(int), 0)
	}
}

//go:noinline
func outer(profile *pprof.Profile) {
	inner(profile, 5)
	inner(profile, 2)
}

func main() {
	profile := pprof.NewProfile("things")
	outer(profile)
	inner(profile, 3)
	if profile.WriteTo(os.Stdout, 0) != nil {
		os.Exit(1)
	}
}
