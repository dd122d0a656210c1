package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type celRequest struct {
	Items []celItem `json:"items"`
}

// celItem is an expression over `self` and `oldSelf` of one schema.
type celItem struct {
	Schema     json.RawMessage `json:"schema"`
	Root       bool            `json:"root"`
	Expression string          `json:"expression"`
	Self       json.RawMessage `json:"self"`
	OldSelf    json.RawMessage `json:"oldSelf"`
	Optional   bool            `json:"optional"`
}

type celAnswer struct {
	Results []celResult `json:"results"`
}

type celResult struct {
	// Error says why nothing could be asked.
	Error string `json:"error,omitempty"`
	// Issues are those of the compiler, Instantiation those of the planner.
	Issues        string `json:"issues,omitempty"`
	Instantiation string `json:"instantiation,omitempty"`
	Type          string `json:"type,omitempty"`
	MinCost       uint64 `json:"minCost"`
	MaxCost       uint64 `json:"maxCost"`
	Fault         string `json:"fault,omitempty"`
	Kind          string `json:"kind,omitempty"`
	Value         string `json:"value,omitempty"`
	Cost          uint64 `json:"cost"`
}

// celExpression compiles and evaluates expressions as rules of CRDs are.
func celExpression(_ *session, in *celRequest) (*celAnswer, error) {
	out := &celAnswer{Results: make([]celResult, len(in.Items))}
	for i := range in.Items {
		result := celResult{}
		if err := guarded(func() error { return in.Items[i].run(&result) }); err != nil {
			result.Error = err.Error()
		}
		out.Results[i] = result
	}
	return out, nil
}

func structuralOf(raw json.RawMessage) (*structuralschema.Structural, *apiextensions.JSONSchemaProps, error) {
	versioned := &apiextensionsv1.JSONSchemaProps{}
	if err := utiljson.Unmarshal(raw, versioned); err != nil {
		return nil, nil, err
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(versioned, internal, nil); err != nil {
		return nil, nil, err
	}
	structural, err := structuralschema.NewStructural(internal)
	return structural, internal, err
}

func celValue(raw json.RawMessage) (any, error) {
	if raw == nil {
		return nil, nil
	}
	var value any
	err := utiljson.Unmarshal(raw, &value)
	return value, err
}

func (item *celItem) run(result *celResult) error {
	schema, _, err := structuralOf(item.Schema)
	if err != nil {
		return err
	}
	declared := model.SchemaDeclType(schema, item.Root)
	if declared == nil {
		return fmt.Errorf("the schema has no type")
	}
	scoped := declared.MaybeAssignTypeName("selfType0")
	old := scoped.CelType()
	if item.Optional {
		old = types.NewOptionalType(old)
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: utilversion.MajorMinor(1, 0),
		EnvOptions:        []celgo.EnvOption{celgo.Variable("self", scoped.CelType()), celgo.Variable("oldSelf", old)},
		DeclTypes:         []*apiservercel.DeclType{scoped},
	})
	if err != nil {
		return err
	}
	env := set.NewExpressionsEnv()
	ast, issues := env.Compile(item.Expression)
	if issues != nil {
		result.Issues = issues.String()
		return nil
	}
	result.Type = celgo.FormatCELType(ast.OutputType())
	estimator := &library.CostEstimator{SizeEstimator: &celSizes{root: declared}}
	program, err := env.Program(ast,
		celgo.CostLimit(celconfig.PerCallLimit),
		celgo.CostTracking(estimator),
		celgo.InterruptCheckFrequency(celconfig.CheckFrequency),
	)
	if err != nil {
		result.Instantiation = err.Error()
		return nil
	}
	estimate, err := env.EstimateCost(ast, estimator)
	if err != nil {
		return err
	}
	result.MinCost, result.MaxCost = estimate.Min, estimate.Max
	self, err := celValue(item.Self)
	if err != nil {
		return err
	}
	oldSelf, err := celValue(item.OldSelf)
	if err != nil {
		return err
	}
	if item.Root {
		schema = model.WithTypeAndObjectMeta(schema)
	}
	variables := map[string]any{"self": schemacel.UnstructuredToVal(self, schema)}
	switch {
	case item.Optional && oldSelf == nil:
		variables["oldSelf"] = types.OptionalNone
	case item.Optional:
		variables["oldSelf"] = types.OptionalOf(schemacel.UnstructuredToVal(oldSelf, schema))
	case oldSelf != nil:
		variables["oldSelf"] = schemacel.UnstructuredToVal(oldSelf, schema)
	}
	value, details, err := program.ContextEval(context.Background(), variables)
	if cost := details.ActualCost(); cost != nil {
		result.Cost = *cost
	}
	if err != nil {
		result.Fault = err.Error()
		return nil
	}
	result.Kind, result.Value = value.Type().TypeName(), celText(value)
	if text, ok := value.(types.String); ok {
		result.Value = string(text)
	}
	return nil
}

// celText tells a value; maps in the order of their keys.
func celText(value ref.Val) string {
	switch v := value.(type) {
	case types.Null:
		return "NULL_VALUE"
	case types.String:
		return strconv.Quote(string(v))
	case types.Bytes:
		parts := make([]string, len(v))
		for i, b := range v {
			parts[i] = strconv.Itoa(int(b))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case types.Timestamp:
		return v.Format(time.RFC3339Nano)
	case types.Duration:
		return strconv.FormatFloat(v.Seconds(), 'f', -1, 64) + "s"
	case *types.Optional:
		if v.HasValue() {
			return "optional(" + celText(v.GetValue()) + ")"
		}
		return "optional.none()"
	case *types.Type:
		return v.TypeName()
	case apiservercel.URL:
		return v.URL.String()
	case apiservercel.IP:
		return v.Addr.String()
	case apiservercel.CIDR:
		return v.Prefix.String()
	case apiservercel.Quantity, *apiservercel.Quantity:
		return "quantity"
	case apiservercel.Semver:
		return "semver"
	case apiservercel.Format:
		return v.Name
	case traits.Lister:
		parts := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, celText(it.Next()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		parts := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			parts = append(parts, celText(key)+": "+celText(v.Get(key)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprintf("%v", value)
}

// celSizes tells sizes by the schema, as rules of CRDs are estimated.
type celSizes struct {
	root *apiservercel.DeclType
}

func (c *celSizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) == 0 {
		return nil
	}
	node := c.root
	for _, name := range element.Path()[1:] {
		var next *apiservercel.DeclType
		switch name {
		case "@items", "@values":
			next = node.ElemType
		case "@keys":
			next = node.KeyType
		default:
			if field, ok := node.Fields[name]; ok {
				next = field.Type
			}
		}
		if next == nil {
			return nil
		}
		node = next
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(node.MaxElements)}
}

func (c *celSizes) EstimateCallCost(_, _ string, _ *checker.AstNode, _ []checker.AstNode) *checker.CallEstimate {
	return nil
}
