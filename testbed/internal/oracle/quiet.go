package oracle

import (
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// activity counts what a controller has started and finished. Work moves from
// stage to stage, and each stage is counted before the one that caused it ends:
//
//	event sent -> key pushed -> event handled
//	key pushed -> key popped -> event sent -> key done
//
// INVARIANT: counters only grow, and nothing is under way exactly when every
// event is handled and every pushed key is done.
type activity struct {
	sent, handled        atomic.Int64
	pushed, popped, done atomic.Int64
	// waiting counts workers that ask for a key.
	waiting atomic.Int64
	// stirred has a token when something has finished since it was last read.
	stirred chan struct{}
}

func newActivity() *activity {
	return &activity{stirred: make(chan struct{}, 1)}
}

type reading struct{ sent, handled, pushed, popped, done int64 }

func (a *activity) read() reading {
	return reading{a.sent.Load(), a.handled.Load(), a.pushed.Load(), a.popped.Load(), a.done.Load()}
}

func (r reading) balanced() bool {
	return r.sent == r.handled && r.pushed == r.popped && r.popped == r.done
}

// quiet says whether there was a moment during the call with nothing under way.
// Two equal readings in a row hold for the moment between them.
func (a *activity) quiet() bool {
	first := a.read()
	return first.balanced() && first == a.read()
}

func (a *activity) stir() {
	if !a.read().balanced() {
		return
	}
	select {
	case a.stirred <- struct{}{}:
	default:
	}
}

// countedHandler counts an event as handled when the wrapped handler returns.
type countedHandler struct {
	cache.ResourceEventHandler
	activity *activity
}

func (h *countedHandler) OnAdd(object any, initial bool) {
	h.ResourceEventHandler.OnAdd(object, initial)
	h.finish()
}

func (h *countedHandler) OnUpdate(old, object any) {
	h.ResourceEventHandler.OnUpdate(old, object)
	h.finish()
}

func (h *countedHandler) OnDelete(object any) {
	h.ResourceEventHandler.OnDelete(object)
	h.finish()
}

func (h *countedHandler) finish() {
	h.activity.handled.Add(1)
	h.activity.stir()
}

// countedQueue is a controller's work queue that counts finished keys. Keys
// come and go in countedOrder, under the queue's own lock.
type countedQueue struct {
	workQueue
	activity *activity
}

func newCountedQueue(name string, activity *activity) *countedQueue {
	plain := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{
		Name:  name,
		Queue: &countedOrder{Queue: workqueue.DefaultQueue[string](), activity: activity},
	})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: name, Queue: plain})
	return &countedQueue{
		workQueue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[string](),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: name, DelayingQueue: delaying},
		),
		activity: activity,
	}
}

func (q *countedQueue) Get() (string, bool) {
	q.activity.waiting.Add(1)
	defer q.activity.waiting.Add(-1)
	return q.workQueue.Get()
}

func (q *countedQueue) Done(key string) {
	q.workQueue.Done(key)
	q.activity.done.Add(1)
	q.activity.stir()
}

// drain takes every queued key as done.
func (q *countedQueue) drain() {
	for q.Len() > 0 {
		key, _ := q.Get()
		q.Forget(key)
		q.Done(key)
	}
}

// countedOrder is the order of a work queue's keys, counted as they pass.
type countedOrder struct {
	workqueue.Queue[string]
	activity *activity
}

func (o *countedOrder) Push(key string) {
	o.activity.pushed.Add(1)
	o.Queue.Push(key)
}

func (o *countedOrder) Pop() string {
	o.activity.popped.Add(1)
	return o.Queue.Pop()
}
