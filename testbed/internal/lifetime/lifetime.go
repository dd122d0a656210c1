// Package lifetime ends a process together with the one that started it.
package lifetime

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// parentSignal is what the kernel sends when the thread that started this
// process ends. The process of that thread may live on, so the signal only
// prompts a look at the parent.
const parentSignal = unix.SIGUSR2

// pollInterval is for parents that ended before the kernel was told to watch.
const pollInterval = 250 * time.Millisecond

// Context is done when the process is asked to end by SIGTERM or SIGINT, when
// its parent is gone, or when stdin is a pipe or socket and its writer is gone.
// Call it once, early in main: it reads all of stdin.
func Context() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	parent := os.Getppid()

	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	orphaned := make(chan os.Signal, 1)
	signal.Notify(orphaned, parentSignal)
	// Without it the poll still works.
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(parentSignal), 0, 0, 0)

	if isStream(os.Stdin) {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel(errors.New("stdin was closed"))
		}()
	}
	go func() {
		ticks := time.NewTicker(pollInterval)
		defer ticks.Stop()
		for {
			if os.Getppid() != parent {
				cancel(errors.New("parent process is gone"))
				return
			}
			select {
			case s := <-asked:
				cancel(errors.New("received " + s.String()))
				return
			case <-orphaned:
			case <-ticks.C:
			}
		}
	}()
	return ctx
}

func isStream(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}
