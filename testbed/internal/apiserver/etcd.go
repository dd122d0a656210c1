package apiserver

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

const etcdStartTimeout = 30 * time.Second

// startEtcd runs etcd on sockets in sockets and returns the URL for clients.
// Sockets keep other users of the machine out, which a loopback port does not.
// A write waits for the disk only with fsync, which a test can do without.
func startEtcd(data, sockets, log string, fsync bool) (string, error) {
	config := embed.NewConfig()
	config.Name = "testbed"
	config.Dir = data
	config.UnsafeNoFsync = !fsync
	config.EnableGRPCGateway = false
	config.LogLevel = "error"
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	config.LogOutputs = []string{log}

	client := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "etcd.sock")}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "peer.sock")}
	config.ListenClientUrls = []url.URL{client}
	config.ListenPeerUrls = []url.URL{peer}
	// Etcd wants addresses to advertise; with a single member nobody calls them.
	nowhere := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.AdvertiseClientUrls = []url.URL{nowhere}
	config.AdvertisePeerUrls = []url.URL{nowhere}
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return "", fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return client.String(), nil
	case err := <-etcd.Err():
		return "", fmt.Errorf("start etcd: %w", err)
	case <-time.After(etcdStartTimeout):
		return "", errors.New("start etcd: not ready in time")
	}
}
