package facts

import (
	"bytes"
	"encoding/json"

	"k8s.io/component-base/version"
)

// document is a JSON object whose members after `version` are lists, with one
// item per line.
type document struct {
	buffer bytes.Buffer
	err    error
}

func newDocument() *document {
	d := &document{}
	d.buffer.WriteString(`{"version":`)
	d.encode(version.Get().GitVersion)
	return d
}

// list adds a member. It is a function because methods have no type parameters.
func list[T any](d *document, name string, items []T) {
	d.buffer.WriteString(",\n")
	d.encode(name)
	d.buffer.WriteString(":[")
	for i, item := range items {
		if i > 0 {
			d.buffer.WriteByte(',')
		}
		d.buffer.WriteByte('\n')
		d.encode(item)
	}
	d.buffer.WriteString("\n]")
}

func (d *document) encode(value any) {
	encoder := json.NewEncoder(&d.buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil && d.err == nil {
		d.err = err
	}
	// The encoder ends each value with a newline.
	d.buffer.Truncate(len(bytes.TrimRight(d.buffer.Bytes(), "\n")))
}

func (d *document) bytes() ([]byte, error) {
	d.buffer.WriteString("}\n")
	return d.buffer.Bytes(), d.err
}
