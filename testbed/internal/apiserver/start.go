package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"rolewright.io/testbed/internal/logs"
)

// Options is how a server differs from the default one.
type Options struct {
	// Dir keeps the data. Empty stands for a temporary directory.
	Dir string
	// FeatureGates is the value of kube-apiserver's flag of that name.
	FeatureGates string
	// Args are further flags of kube-apiserver, as `name=value`.
	Args []string
	// Fsync makes writes wait for the disk, as they do in a cluster.
	Fsync bool
	// Log takes the server's log; nil stands for a file in the directory.
	Log io.Writer
}

// Server is an API server. One process can run only one: Kubernetes keeps flags
// and feature gates in globals.
type Server struct {
	// Client reaches the server as a member of system:masters.
	Client *rest.Config
	// Kubeconfig and CA are files, for other processes.
	Kubeconfig, CA string
	// Failed yields the error that ended the server.
	Failed <-chan error

	options   Options
	dir       string
	temporary string
	tokenKey  string
}

// New prepares a server that Close has to be called for.
func New(o Options) (*Server, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp("", "rolewright-testbed-")
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		dir = filepath.Join(temporary, "data")
	}
	return &Server{options: o, dir: dir, temporary: temporary}, nil
}

// Start returns when the server says that it is ready.
func (s *Server) Start(ctx context.Context) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if err := s.openLog(); err != nil {
		return err
	}
	files, err := prepareCredentials(s.dir)
	if err != nil {
		return err
	}
	etcd, err := startEtcd(filepath.Join(s.dir, "etcd"), s.temporary, filepath.Join(s.dir, "etcd.log"), s.options.Fsync)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.tokenKey = files.serviceAccountKey
	if err := s.connect(files, listener.Addr().String()); err != nil {
		return err
	}
	args := withOverrides(flags(files, etcd, s.options.FeatureGates), s.options.Args)
	if s.Failed, err = run(ctx, listener, args); err != nil {
		return fmt.Errorf("start kube-apiserver: %w", err)
	}
	return s.waitUntilReady(ctx)
}

// Close removes the temporary files. The server itself ends with the process:
// its orderly end takes Kubernetes 20 seconds and saves nothing here.
func (s *Server) Close() error {
	var err error
	// Etcd may create a file while its directory is removed.
	for range 5 {
		if err = os.RemoveAll(s.temporary); err == nil {
			return nil
		}
	}
	return err
}

func (s *Server) openLog() error {
	if s.options.Log != nil {
		logs.To(s.options.Log)
		return nil
	}
	file, err := os.OpenFile(filepath.Join(s.dir, "apiserver.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	logs.To(file)
	return nil
}

func flags(files *credentials, etcd, featureGates string) []string {
	return []string{
		"bind-address=127.0.0.1",
		"advertise-address=127.0.0.1",
		"endpoint-reconciler-type=none",
		"service-cluster-ip-range=" + serviceRange,
		"etcd-servers=" + etcd,
		"authorization-mode=RBAC",
		"token-auth-file=" + files.tokens,
		"client-ca-file=" + files.caCert,
		"tls-cert-file=" + files.servingCert,
		"tls-private-key-file=" + files.servingKey,
		"service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"service-account-key-file=" + files.serviceAccountKey,
		"service-account-signing-key-file=" + files.serviceAccountKey,
		"allow-privileged=true",
		"profiling=false",
		"feature-gates=" + featureGates,
	}
}

// withOverrides puts args in place of the defaults of the same name. A second
// value would be added to a list instead of replacing it.
func withOverrides(defaults, args []string) []string {
	given := map[string]bool{}
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		given[name] = true
	}
	var out []string
	for _, arg := range defaults {
		if name, _, _ := strings.Cut(arg, "="); !given[name] {
			out = append(out, "--"+arg)
		}
	}
	for _, arg := range args {
		out = append(out, "--"+arg)
	}
	return out
}

// run starts kube-apiserver as its own command does, but on a listener of ours
// and without its signal handlers.
func run(ctx context.Context, listener net.Listener, args []string) (<-chan error, error) {
	s := options.NewServerRunOptions()
	all := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	all.Usage = func() {}
	for _, set := range s.Flags().FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(args); err != nil {
		return nil, err
	}
	// Of the logging options, only the verbosity has a meaning here.
	var level klog.Level
	if err := level.Set(fmt.Sprint(s.Logs.Verbosity)); err != nil {
		return nil, err
	}
	s.SecureServing.Listener = listener
	s.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := s.Complete(ctx)
	if err != nil {
		return nil, err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	failed := make(chan error, 1)
	go func() {
		err := app.Run(ctx, completed)
		if err == nil {
			err = errors.New("kube-apiserver ended")
		}
		failed <- err
	}()
	return failed, nil
}

// connect prepares the clients of the server.
func (s *Server) connect(files *credentials, address string) error {
	s.CA = files.caCert
	s.Client = &rest.Config{
		Host:            "https://" + address,
		BearerToken:     files.token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: files.caCert},
	}
	ca, err := os.ReadFile(files.caCert)
	if err != nil {
		return err
	}
	s.Kubeconfig = filepath.Join(s.dir, "kubeconfig")
	// WriteToFile gives the file mode 0600.
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"testbed": {Server: s.Client.Host, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{adminUser: {Token: files.token}},
		Contexts:       map[string]*clientcmdapi.Context{"testbed": {Cluster: "testbed", AuthInfo: adminUser}},
		CurrentContext: "testbed",
	}, s.Kubeconfig)
}

func (s *Server) waitUntilReady(ctx context.Context) error {
	const interval = 20 * time.Millisecond
	client, err := rest.HTTPClientFor(s.Client)
	if err != nil {
		return err
	}
	for {
		if response, err := client.Get(s.Client.Host + "/readyz"); err == nil {
			response.Body.Close()
			if response.StatusCode == 200 {
				return nil
			}
		}
		select {
		case err := <-s.Failed:
			return fmt.Errorf("start kube-apiserver: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}
