package apiserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// adminUser is the name that goes with the admin token.
const adminUser = "testbed-admin"

// serviceRange holds the addresses of services, of which the first is that of
// the API server's own.
const (
	serviceRange    = "10.96.0.0/16"
	serverServiceIP = "10.96.0.1"
)

// credentials are files in the data directory. Those that exist are kept, so
// that tokens and certificates outlive a restart.
type credentials struct {
	caCert, caKey           string
	servingCert, servingKey string
	serviceAccountKey       string
	tokens                  string
	token                   string
}

func prepareCredentials(dir string) (*credentials, error) {
	c := &credentials{
		caCert:            filepath.Join(dir, "ca.crt"),
		caKey:             filepath.Join(dir, "ca.key"),
		servingCert:       filepath.Join(dir, "serving.crt"),
		servingKey:        filepath.Join(dir, "serving.key"),
		serviceAccountKey: filepath.Join(dir, "service-account.key"),
		tokens:            filepath.Join(dir, "tokens.csv"),
	}
	if _, err := os.Stat(c.tokens); err == nil {
		return c, c.readToken()
	}
	ca, caKey, err := c.writeAuthority()
	if err != nil {
		return nil, fmt.Errorf("create certificate authority: %w", err)
	}
	if err := c.writeServing(ca, caKey); err != nil {
		return nil, fmt.Errorf("create serving certificate: %w", err)
	}
	if _, err := newKey(c.serviceAccountKey); err != nil {
		return nil, fmt.Errorf("create service account key: %w", err)
	}
	// The file with the tokens comes last: it says that all others exist.
	return c, c.writeToken()
}

func (c *credentials) readToken() error {
	content, err := os.ReadFile(c.tokens)
	if err != nil {
		return err
	}
	token, _, found := strings.Cut(string(content), ",")
	if !found {
		return fmt.Errorf("no token in `%s`", c.tokens)
	}
	c.token = token
	return nil
}

func (c *credentials) writeToken() error {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	c.token = hex.EncodeToString(secret)
	line := fmt.Sprintf("%s,%s,%s,system:masters\n", c.token, adminUser, adminUser)
	return os.WriteFile(c.tokens, []byte(line), 0o600)
}

// writeAuthority creates the authority for serving and for client certificates.
// Its key stays in the data directory, for tests that sign their own.
func (c *credentials) writeAuthority() (*x509.Certificate, crypto.Signer, error) {
	key, err := newKey(c.caKey)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "testbed-ca"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	ca, err := writeCertificate(c.caCert, template, template, key.Public(), key)
	return ca, key, err
}

func (c *credentials) writeServing(ca *x509.Certificate, caKey crypto.Signer) error {
	key, err := newKey(c.servingKey)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.ParseIP(serverServiceIP)},
	}
	_, err = writeCertificate(c.servingCert, template, ca, key.Public(), caKey)
	return err
}

func newKey(file string) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

func writeCertificate(file string, template, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().AddDate(10, 0, 0)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return certificate, errors.Join(err, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
}
