// Package kubectl is kubectl itself, of the version of everything else here, so
// that suites need none installed.
package kubectl

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	// As in kubectl's own main: credential plugins of kubeconfigs.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

// Main is the entry point of `testbed kubectl`. It ends the process with
// kubectl's exit code.
func Main(args []string) error {
	// The command reads them from there.
	os.Args = append([]string{"kubectl"}, args...)
	// Of use only to `-v`, which counts before the command is made.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	os.Exit(0)
	return nil
}
