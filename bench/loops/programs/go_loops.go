// Loops in Go: a locked main goroutine polls a package variable, or a field by a method.
package main

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var isDone int32
var shelf sync.Mutex

type job struct {
	name string
	done atomic.Bool
}

var current = &job{name: "work"}

//go:noinline
func (j *job) finish() {
	j.done.Store(true)
}

//go:noinline
func (j *job) wait() {
	pause := syscall.Timespec{Nsec: 2000000}
	for !j.done.Load() {
		_ = syscall.Nanosleep(&pause, nil)
	}
}

//go:noinline
func finishWork() {
	atomic.StoreInt32(&isDone, 1)
	current.finish()
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
		current.done.Store(false)
		if round == 3 {
			shelf.Lock()
			go func() {
				time.Sleep(2500 * time.Millisecond)
				shelf.Unlock()
			}()
		}
		requests <- true
		if len(os.Args) > 1 && os.Args[1] == "field" {
			current.wait()
		} else {
			waitUntilDone()
		}
		time.Sleep(60 * time.Millisecond)
	}
}
