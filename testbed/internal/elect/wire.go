package elect

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// wire knows whether a request is under way. A candidate that is stopped in the
// middle of a renewal does not learn the version that it has written, cannot
// give the lease back, and lets others wait until it expires.
type wire struct {
	requests sync.RWMutex
}

// idle is done when ctx is and no request is under way.
func (w *wire) idle(ctx context.Context) context.Context {
	idle, cancel := context.WithCancel(context.Background())
	go func() {
		<-ctx.Done()
		w.requests.Lock()
		defer w.requests.Unlock()
		cancel()
	}()
	return idle
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{wire: w, next: next}
}

type transport struct {
	wire *wire
	next http.RoundTripper
}

// RoundTrip sends a request, which is under way until its answer is closed.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.wire.requests.RLock()
	response, err := t.next.RoundTrip(request)
	if err != nil {
		t.wire.requests.RUnlock()
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, done: sync.OnceFunc(t.wire.requests.RUnlock)}
	return response, nil
}

type body struct {
	io.ReadCloser
	done func()
}

// Close ends the request.
func (b *body) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}
