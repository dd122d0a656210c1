// Command testbed runs Kubernetes' own code beside rolewright: as an API
// server, as controllers, as a plain client, as an oracle for single decisions
// and as the source of generated facts.
package main

import (
	"fmt"
	"os"

	"rolewright.io/testbed/internal/apiserver"
	"rolewright.io/testbed/internal/client"
	"rolewright.io/testbed/internal/controllers"
	"rolewright.io/testbed/internal/elect"
	"rolewright.io/testbed/internal/facts"
	"rolewright.io/testbed/internal/informers"
	"rolewright.io/testbed/internal/kubectl"
	"rolewright.io/testbed/internal/oracle"
)

// commands maps each subcommand to its entry point.
var commands = map[string]func(args []string) error{
	"apiserver":   apiserver.Main,
	"client":      client.Main,
	"controllers": controllers.Main,
	"elect":       elect.Main,
	"facts":       facts.Main,
	"informers":   informers.Main,
	"kubectl":     kubectl.Main,
	"oracle":      oracle.Main,
}

const usage = `usage: testbed COMMAND [FLAGS]

commands:
  apiserver     run kube-apiserver with an embedded etcd
  client        send plain requests to an API server, JSON lines on stdin and stdout
  controllers   run Kubernetes' controllers against an API server
  elect         take part in an election of client-go, JSON lines on stdout
  facts         write bootstrap policy, served kinds and field tables as JSON
  informers     keep client-go's informers, JSON lines on stdin and stdout
  kubectl       kubectl of the same version
  oracle        answer questions about Kubernetes' RBAC code, JSON lines on stdin and stdout
`

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
