package informers

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// followed holds the informers and what they told.
type followed struct {
	informers map[string]cache.SharedIndexInformer
	synced    []cache.InformerSynced
	lock      sync.Mutex
	told      map[string]map[string]int
}

// factory is what the three kinds of informers have in common.
type factory func(schema.GroupVersionResource) (cache.SharedIndexInformer, error)

func follow(ctx context.Context, config *rest.Config, kind, namespace string) (*followed, error) {
	var of factory
	var start func(<-chan struct{})
	switch kind {
	case "typed":
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		shared := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		of = func(resource schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
			generic, err := shared.ForResource(resource)
			if err != nil {
				return nil, err
			}
			return generic.Informer(), nil
		}
		start = shared.Start
	case "dynamic":
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		shared := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
		of = func(resource schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
			return shared.ForResource(resource).Informer(), nil
		}
		start = shared.Start
	case "metadata":
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		shared := metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
		of = func(resource schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
			return shared.ForResource(resource).Informer(), nil
		}
		start = shared.Start
	default:
		return nil, fmt.Errorf("unknown kind `%s`", kind)
	}
	f := &followed{informers: map[string]cache.SharedIndexInformer{}, told: map[string]map[string]int{}}
	for _, resource := range resources {
		informer, err := of(resource)
		if err != nil {
			return nil, err
		}
		registration, err := informer.AddEventHandler(f.handler(resource.Resource))
		if err != nil {
			return nil, err
		}
		f.informers[resource.Resource] = informer
		f.synced = append(f.synced, informer.HasSynced, registration.HasSynced)
	}
	start(ctx.Done())
	return f, nil
}

func (f *followed) handler(resource string) cache.ResourceEventHandler {
	counts := map[string]int{}
	f.told[resource] = counts
	count := func(event string) {
		f.lock.Lock()
		defer f.lock.Unlock()
		counts[event]++
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { count("add") },
		UpdateFunc: func(any, any) { count("update") },
		DeleteFunc: func(any) { count("delete") },
	}
}

// stores are the objects, as JSON has them.
func (f *followed) stores() map[string]map[string]any {
	all := map[string]map[string]any{}
	for resource, informer := range f.informers {
		objects := map[string]any{}
		for _, key := range informer.GetStore().ListKeys() {
			if object, found, err := informer.GetStore().GetByKey(key); found && err == nil {
				objects[key] = object
			}
		}
		all[resource] = objects
	}
	return all
}

// events is a copy of the counters.
func (f *followed) events() map[string]map[string]int {
	f.lock.Lock()
	defer f.lock.Unlock()
	all := map[string]map[string]int{}
	// A round through JSON copies maps of numbers.
	if text, err := json.Marshal(f.told); err == nil {
		_ = json.Unmarshal(text, &all)
	}
	return all
}
