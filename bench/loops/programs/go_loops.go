// A loop in Go: a locked main goroutine polls a package variable.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var isDone int32
var shelf sync.Mutex

//go:noinline
func finishWork() {
	atomic.StoreInt32(&isDone, 1)
}

//go:noinline
func waitUntilDone() {
	pause := syscall.Timespec{Nsec: 2000000}
	for atomic.LoadInt32(&isDone) == 0 {
		_ = syscall.Nanosleep(&pause, nil)
	}
}

func main() {
	runtime.LockOSThread()
	requests := make(chan bool)
	go func() {
		runtime.LockOSThread()
		for range requests {
			time.Sleep(5 * time.Millisecond)
			shelf.Lock()
			shelf.Unlock()
			finishWork()
		}
	}()
	for round := 0; round < 4; round++ {
		atomic.StoreInt32(&isDone, 0)
		if round == 3 {
			shelf.Lock()
			go func() {
				time.Sleep(2500 * time.Millisecond)
				shelf.Unlock()
			}()
		}
		requests <- true
		waitUntilDone()
		time.Sleep(60 * time.Millisecond)
	}
}
