package oracle

import (
	"sync"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	openapifeatures "k8s.io/apiserver/pkg/util/openapi"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kube-openapi/pkg/builder3"
	openapicommon "k8s.io/kube-openapi/pkg/common"
	openapiutil "k8s.io/kube-openapi/pkg/util"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// converters knows the structure of kinds from their OpenAPI definitions, as
// the server does. Building one is slow, so each is kept.
type converters struct {
	byKind map[schema.GroupKind]managedfields.TypeConverter
}

// openapiConfig is that of kube-apiserver.
var openapiConfig = sync.OnceValue(func() *openapicommon.OpenAPIV3Config {
	definitions := openapifeatures.GetOpenAPIDefinitionsWithoutDisabledFeatures(openapi.GetOpenAPIDefinitions)
	return genericapiserver.DefaultOpenAPIV3Config(definitions,
		openapinamer.NewDefinitionNamer(legacyscheme.Scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme))
})

// of returns a converter for all versions of a kind.
func (c *converters) of(e *endpoint) (managedfields.TypeConverter, error) {
	if known, ok := c.byKind[e.kind.GroupKind()]; ok {
		return known, nil
	}
	config := openapiConfig()
	var names []string
	for _, version := range e.scheme.PrioritizedVersionsForGroup(e.kind.Group) {
		kind := version.WithKind(e.kind.Kind)
		if !e.scheme.Recognizes(kind) {
			continue
		}
		sample, err := e.scheme.New(kind)
		if err != nil {
			return nil, err
		}
		name := openapiutil.GetCanonicalTypeName(sample)
		if _, ok := config.Definitions[name]; ok {
			names = append(names, name)
		}
	}
	schemas, err := builder3.BuildOpenAPIDefinitionsForResources(config, names...)
	if err != nil {
		return nil, err
	}
	converter, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		return nil, err
	}
	if c.byKind == nil {
		c.byKind = map[schema.GroupKind]managedfields.TypeConverter{}
	}
	c.byKind[e.kind.GroupKind()] = converter
	return converter, nil
}
