package informers

import (
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// wire stands between client-go and the network: it counts, ends watches, and
// lets watches begin in the distant past.
type wire struct {
	// seconds is when the server is to end a watch; 0 leaves that to client-go.
	seconds int

	lock   sync.Mutex
	counts map[string]int
	open   []io.Closer
	// past names the paths whose next watch begins too early.
	past map[string]bool
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{wire: w, next: next}
}

type transport struct {
	*wire
	next http.RoundTripper
}

// RoundTrip sends a request, perhaps another one than was asked for.
func (t *transport) RoundTrip(in *http.Request) (*http.Response, error) {
	query := in.URL.Query()
	watch := query.Get("watch") != ""
	request := in.Clone(in.Context())
	if watch {
		if t.seconds > 0 {
			query.Set("timeoutSeconds", strconv.Itoa(t.seconds))
		}
		if t.takePast(in.URL.Path) {
			query.Set("resourceVersion", "1")
			query.Del("sendInitialEvents")
			query.Del("resourceVersionMatch")
		}
		request.URL.RawQuery = query.Encode()
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	t.count(watch, query.Get("sendInitialEvents") == "true", response)
	if watch {
		response.Body = &watched{ReadCloser: response.Body, wire: t.wire}
		t.lock.Lock()
		t.open = append(t.open, response.Body)
		t.lock.Unlock()
	}
	return response, nil
}

// watched sees whether a watch tells that its beginning is gone.
type watched struct {
	io.ReadCloser
	wire *wire
}

// Read passes on, and looks for the error that makes a client list again.
func (w *watched) Read(into []byte) (int, error) {
	n, err := w.ReadCloser.Read(into)
	if text := string(into[:n]); strings.Contains(text, "too old resource version") || strings.Contains(text, "Expired") {
		w.wire.add("expired")
	}
	return n, err
}

func (w *wire) count(watch, initial bool, response *http.Response) {
	switch {
	case watch && initial:
		w.add("watch-list")
	case watch:
		w.add("watch")
	default:
		w.add("list")
	}
	if response.StatusCode == http.StatusGone {
		w.add("expired")
	}
	media, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	w.add(media)
}

func (w *wire) add(name string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.counts[name]++
}

func (w *wire) requests() map[string]int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return maps.Clone(w.counts)
}

// cut ends every watch from this side, in the middle of whatever it says.
func (w *wire) cut() {
	w.lock.Lock()
	open := w.open
	w.open = nil
	w.lock.Unlock()
	for _, body := range open {
		_ = body.Close()
	}
}

// rewind lets the next watch of each resource begin before all history.
func (w *wire) rewind() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.past = map[string]bool{}
	for _, resource := range resources {
		w.past[resource.Resource] = true
	}
}

// rewound tells whether every watch was begun again.
func (w *wire) rewound() bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	return len(w.past) == 0
}

func (w *wire) takePast(path string) bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	resource := path[strings.LastIndex(path, "/")+1:]
	past := w.past[resource]
	delete(w.past, resource)
	return past
}
