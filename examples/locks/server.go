package main

import (
	"errors"
	"net"
	"os"
	"time"
)

// holder is who has a lock, as far as the server knows.
type holder struct {
	mode    string
	request int64
	ends    time.Time // when others may have the lock
}

// serve grants locks. The file "served" tells it that it is not the first server here.
func serve(conn net.PacketConn, noGrace bool) error {
	var grace time.Time // nothing is granted before but what somebody holds
	if _, err := os.Stat("served"); err == nil {
		if !noGrace {
			grace = time.Now().Add(expiry)
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile("served", nil, 0o644); err != nil {
		return err
	}
	locks := map[string]map[string]holder{} // by lock and client
	for {
		m, from, ok := receive(conn, time.Time{})
		if !ok {
			continue
		}
		if locks[m.Lock] == nil {
			locks[m.Lock] = map[string]holder{}
		}
		holders := locks[m.Lock]
		h, known := holders[m.Client]
		switch m.Kind {
		case "acquire":
			if m.Request < h.request {
				continue
			}
			if now := time.Now(); (m.Holds || now.After(grace)) && free(holders, m, now) {
				holders[m.Client] = holder{m.Mode, m.Request, now.Add(expiry)}
				m.Kind = "granted"
				send(conn, from, m)
			}
		case "release":
			if known && h.request <= m.Request {
				delete(holders, m.Client)
			}
			m.Kind = "released"
			send(conn, from, m)
		}
	}
}

// free says whether the client may have the lock beside all others that have it.
func free(holders map[string]holder, m message, now time.Time) bool {
	for client, h := range holders {
		if client != m.Client && h.ends.After(now) && (h.mode == "exclusive" || m.Mode == "exclusive") {
			return false
		}
	}
	return true
}
