package oracle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	componentversion "k8s.io/component-base/version"

	"rolewright.io/testbed/internal/logs"
)

// maxLine bounds one request. Worlds of 100,000 roles and bindings take about
// 100 MiB.
const maxLine = 512 << 20

// Main is the entry point of `testbed oracle`.
func Main(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown argument `%s`", args[0])
	}
	return Serve(os.Stdin, os.Stdout)
}

// Serve answers the requests of in on out, one line each and in order, until
// in ends.
func Serve(in io.Reader, out io.Writer) error {
	// The log repeats what the answers say.
	logs.To(io.Discard)
	s := &session{world: newWorld()}
	reader := bufio.NewReaderSize(in, 1<<20)
	writer := bufio.NewWriterSize(out, 1<<20)
	for {
		line, err := readLine(reader, maxLine)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var answer []byte
		switch {
		case errors.Is(err, errLineTooLong):
			answer = []byte(fmt.Sprintf(`{"id":null,"error":"request line is longer than %d bytes"}`, maxLine))
		case err != nil:
			return fmt.Errorf("read request: %w", err)
		case len(bytes.TrimSpace(line)) == 0:
			continue
		default:
			answer = s.answer(line)
		}
		writer.Write(answer)
		writer.WriteByte('\n')
		if err := writer.Flush(); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
}

var errLineTooLong = errors.New("line too long")

// readLine returns the next line without its end. A line beyond limit is read
// to its end and dropped, so that the next call starts at the next line.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	dropped := false
	for {
		part, err := r.ReadSlice('\n')
		if !dropped {
			line = append(line, part...)
		}
		if len(line) > limit {
			line, dropped = nil, true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !dropped):
			return nil, err
		case dropped:
			return nil, errLineTooLong
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

type versionRequest struct{}

type versionAnswer struct {
	Kubernetes string `json:"kubernetes"`
	Go         string `json:"go"`
}

func version(*session, *versionRequest) (*versionAnswer, error) {
	return &versionAnswer{Kubernetes: componentversion.Get().GitVersion, Go: runtime.Version()}, nil
}
