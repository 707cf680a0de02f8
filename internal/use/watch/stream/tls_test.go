package stream

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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
)

// certificate is one with its key.
type certificate struct {
	*x509.Certificate
	key *ecdsa.PrivateKey
	TLS TLS // files of it
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
	return c
}

// TestTLS: a connection to a server with a certificate needs the authority that has signed it, and
// a certificate where the server asks for one. A connection from the server's process needs none.
func TestTLS(t *testing.T) {
	ca, other := newCertificate(t, "ca", nil), newCertificate(t, "other", nil)
	of := newCertificate(t, "server", ca).TLS
	own := newCertificate(t, "client", ca).TLS
	for _, asks := range []string{"", ca.TLS.Cert} {
		s, at, err := Serve("secret@127.0.0.1:0", t.TempDir(), TLS{asks, of.Cert, of.Key})
		if err != nil {
			t.Fatal(err)
		}
		defer s.WaitForShutdown()
		defer s.Shutdown()
		if !strings.HasPrefix(at, "tls://secret@127.0.0.1:") {
			t.Error(at)
		}
		inside, err := ConnectOwn(s, at, "tls")
		if err != nil {
			t.Fatal(err)
		}
		defer inside.Close()
		if err := inside.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, at, ca, cert, key, want string
		}{
			{"right", at, ca.TLS.Cert, own.Cert, own.Key, ""},
			{"another scheme", strings.Replace(at, "tls", "nats", 1), ca.TLS.Cert, own.Cert, own.Key, ""},
			{"no token", strings.Replace(at, "secret@", "", 1), ca.TLS.Cert, own.Cert, own.Key, "uthorization"},
			{"another authority", at, other.TLS.Cert, own.Cert, own.Key, "certificate"},
			{"no authority", at, "", own.Cert, own.Key, "certificate"},
			{"no certificate", at, ca.TLS.Cert, "", "", "tls://"},
			{"another certificate", at, ca.TLS.Cert, other.TLS.Cert, other.TLS.Key, "tls://"},
			{"no file", at, ca.TLS.Cert + "x", "", "", "no such file"},
		} {
			if asks == "" && c.want == "tls://" {
				c.want = ""
			}
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			conn, err := Connect(ctx, c.at, "tls", TLS{c.ca, c.cert, c.key}, nil)
			switch {
			case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			case err == nil && c.want != "":
				t.Errorf("%s: it is connected", c.name)
			case err == nil:
				if !conn.nats.TLSRequired() {
					t.Errorf("%s: it is not encrypted", c.name)
				}
				if err := conn.Open(ctx, nil); err != nil {
					t.Error(err)
				}
			}
			if err == nil {
				conn.Close()
			}
			stop()
		}
	}
	if _, _, err := Serve("127.0.0.1:0", t.TempDir(), TLS{"", of.Cert, own.Key}); err == nil ||
		!strings.Contains(err.Error(), "certificate "+of.Cert+" with key "+own.Key) {
		t.Errorf("a key of another certificate: %v", err)
	}
}
