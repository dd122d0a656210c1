// Package client sends plain requests to an API server, for tests that want to
// see exactly what it answers and need no typed client for that.
package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// maxLine is far above the 3 MiB that the server reads of a body.
const maxLine = 64 << 20

// request is one line of input.
type request struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Header map[string]string `json:"header"`
	Groups []string          `json:"groups"`
	Body   json.RawMessage   `json:"body"`
}

// answer is one line of output. Body is null unless the server sent JSON.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Status int             `json:"status,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	Text   string          `json:"text,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Main is the entry point of `testbed client`.
func Main(args []string) error {
	set := flag.NewFlagSet("client", flag.ExitOnError)
	kubeconfig := set.String("kubeconfig", "", "`file` that says how to reach the API server")
	// The set exits on errors.
	_ = set.Parse(args)
	if set.NArg() > 0 {
		return fmt.Errorf("unknown argument `%s`", set.Arg(0))
	}
	if *kubeconfig == "" {
		return errors.New("`--kubeconfig` is missing")
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	return serve(os.Stdin, os.Stdout, func(in *request) (*answer, error) {
		return send(transport, strings.TrimSuffix(config.Host, "/"), in)
	})
}

// serve answers line by line until the input ends.
func serve(in io.Reader, out io.Writer, send func(*request) (*answer, error)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	encoder := json.NewEncoder(out)
	for lines.Scan() {
		var in request
		found, err := &answer{}, json.Unmarshal(lines.Bytes(), &in)
		if err == nil {
			found, err = send(&in)
		}
		if err != nil {
			found = &answer{Error: err.Error()}
		}
		found.ID = in.ID
		if err := encoder.Encode(found); err != nil {
			return err
		}
	}
	return lines.Err()
}

func send(transport *http.Client, host string, in *request) (*answer, error) {
	out, err := http.NewRequest(in.Method, host+in.Path, bytes.NewReader(in.Body))
	if err != nil {
		return nil, err
	}
	if len(in.Body) > 0 {
		out.Header.Set("Content-Type", "application/json")
	}
	for name, value := range in.Header {
		out.Header.Set(name, value)
	}
	for _, group := range in.Groups {
		out.Header.Add("Impersonate-Group", group)
	}
	response, err := transport.Do(out)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	found := &answer{Status: response.StatusCode}
	if json.Valid(body) {
		found.Body = body
	} else {
		found.Text = string(body)
	}
	return found, nil
}
