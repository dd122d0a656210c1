package oracle

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// handler answers one decoded request line. fields holds the request's members
// other than `id` and `op`; line is the whole request.
type handler func(s *session, fields []string, line []byte) (any, error)

// operations maps the name of each operation to its handler.
var operations = map[string]handler{
	"version":               op(version),
	"load":                  op(load),
	"authorize":             op(authorize),
	"rules_for":             op(rulesFor),
	"who_can":               op(whoCan),
	"confirm_no_escalation": op(confirmNoEscalation),
	"covers":                op(covers),
	"compact":               op(compact),
	"aggregate":             op(aggregate),
	"validate":              op(validate),
	"selector":              op(selector),
	"decode":                op(decode),
	"encode_proto":          op(encodeProto),
	"patch":                 op(patch),
	"strategy":              op(applyStrategy),
	"managed_fields":        op(managedFields),
	"custom":                op(custom),
	"definition_status":     op(definitionStatus),
	"custom_table":          op(customTable),
	"custom_openapi":        op(customOpenAPI),
	"table":                 op(table),
	"selector_parse":        op(selectorParse),
	"cel":                   op(celExpression),
	"cel_rules":             op(celRules),
	"bench_authorize":       op(benchAuthorize),
	"bench_covers":          op(benchCovers),
	"bench_aggregate":       op(benchAggregate),
}

// session is the state that lives from one request to the next.
type session struct {
	world        *world
	converters   converters
	definedKinds map[string]*definedKind
}

// op adapts a typed function to a handler. Members that the request type does
// not know are refused: a misspelled name would otherwise read as "nothing".
func op[Request, Answer any](f func(*session, *Request) (*Answer, error)) handler {
	known := memberNames(reflect.TypeFor[Request]())
	return func(s *session, fields []string, line []byte) (any, error) {
		for _, field := range fields {
			if !slices.Contains(known, field) {
				return nil, fmt.Errorf("unknown field `%s`", field)
			}
		}
		request := new(Request)
		if err := utiljson.Unmarshal(line, request); err != nil {
			return nil, fmt.Errorf("decode request: %w", err)
		}
		return f(s, request)
	}
}

func memberNames(t reflect.Type) []string {
	names := make([]string, 0, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// answer turns one request line into one answer line, without the newline.
// Whatever the line holds, the result is an answer: panics become errors too.
func (s *session) answer(line []byte) []byte {
	id, result, err := s.dispatch(line)
	if err == nil {
		var encoded []byte
		if encoded, err = encode(id, result); err == nil {
			return encoded
		}
	}
	encoded, _ := encode(id, struct {
		Error string `json:"error"`
	}{err.Error()})
	return encoded
}

func (s *session) dispatch(line []byte) (id json.RawMessage, result any, err error) {
	id = json.RawMessage("null")
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()

	var members map[string]json.RawMessage
	if err := utiljson.Unmarshal(line, &members); err != nil {
		return id, nil, fmt.Errorf("decode request: %w", err)
	}
	if given, ok := members["id"]; ok {
		id = given
	}
	var name string
	if err := utiljson.Unmarshal(members["op"], &name); err != nil {
		return id, nil, fmt.Errorf("decode request: `op` is missing or no string")
	}
	handle, ok := operations[name]
	if !ok {
		return id, nil, fmt.Errorf("unknown op `%s`", name)
	}
	delete(members, "id")
	delete(members, "op")
	fields := make([]string, 0, len(members))
	for field := range members {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	result, err = handle(s, fields, line)
	return id, result, err
}

// encode puts `id` in front of the members of result, which is a struct.
func encode(id json.RawMessage, result any) ([]byte, error) {
	body, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	out := append([]byte(`{"id":`), id...)
	if string(body) == "{}" {
		return append(out, '}'), nil
	}
	return append(append(out, ','), body[1:]...), nil
}
