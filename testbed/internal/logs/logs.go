// Package logs directs the log that Kubernetes' code writes.
package logs

import (
	"flag"
	"io"

	"k8s.io/klog/v2"
)

// To sends every line to w, errors included, which would else also go to
// stderr. Call it once, before any code that logs.
func To(w io.Writer) {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	// Cannot fail: the flags are klog's own.
	_ = flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL", "-one_output=true"})
	klog.SetOutput(w)
}
