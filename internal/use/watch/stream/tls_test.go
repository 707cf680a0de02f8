package stream

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// certificate is one with its key.
type certificate struct {
	*x509.Certificate
	key  *ecdsa.PrivateKey
	TLS  TLS // files of it
	pair tls.Certificate
}

// newCertificate makes a certificate that another one has signed; nil: it signs itself, and others.
func newCertificate(t *testing.T, name string, by *certificate) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
		IsCA: by == nil, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	c := &certificate{Certificate: of, key: key}
	if by == nil {
		by = c
	}
	text, err := x509.CreateCertificate(rand.Reader, of, by.Certificate, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	if c.Certificate, err = x509.ParseCertificate(text); err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c.TLS = TLS{Cert: write("cert", "CERTIFICATE", text), Key: write("key", "EC PRIVATE KEY", secret)}
	c.pair = tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}
	return c
}

// TestTLS: a connection to a server with a certificate needs the authority that has signed it, and
// a certificate where the server asks for one.
func TestTLS(t *testing.T) {
	ca, other := newCertificate(t, "ca", nil), newCertificate(t, "other", nil)
	known := x509.NewCertPool()
	known.AddCert(ca.Certificate)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
		StoreDir: t.TempDir(), NoSigs: true, NoLog: true, TLSTimeout: 5, TLSVerify: true,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{newCertificate(t, "server", ca).pair}, ClientCAs: known,
			ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(readyWithin) {
		t.Fatal("the server does not begin")
	}
	own := newCertificate(t, "client", ca).TLS
	for _, c := range []struct {
		name, ca, cert, key, want string
	}{
		{"right", ca.TLS.Cert, own.Cert, own.Key, ""},
		{"another authority", other.TLS.Cert, own.Cert, own.Key, "certificate"},
		{"no authority", "", own.Cert, own.Key, "certificate"},
		{"no certificate", ca.TLS.Cert, "", "", "tls://"},
		{"another certificate", ca.TLS.Cert, other.TLS.Cert, other.TLS.Key, "tls://"},
		{"no file", ca.TLS.Cert + "x", "", "", "no such file"},
	} {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		conn, err := Connect(ctx, s.ClientURL(), "tls", TLS{c.ca, c.cert, c.key}, nil)
		switch {
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case err == nil && c.want != "":
			t.Errorf("%s: it is connected", c.name)
		case err == nil:
			if err := conn.Create(ctx); err != nil {
				t.Error(err)
			}
		}
		if err == nil {
			conn.Close()
		}
		stop()
	}
}
