package main

import (
	"fmt"
	"net"
	"time"
)

const (
	work = 1200 * time.Millisecond // with the lock
	rest = 300 * time.Millisecond  // without
)

// use has the lock some times, for a while each.
func use(conn net.PacketConn, name, lock, mode string, times int) error {
	server, err := net.ResolveUDPAddr("udp", "server"+port)
	if err != nil {
		return err
	}
	start := time.Now()
	for range times {
		m := message{Client: name, Lock: lock, Mode: mode, Request: time.Now().UnixNano()}
		for done := false; !done; {
			done = hold(conn, server, m, start)
			for !call(conn, server, "release", &m, start, time.Now().Add(tick)) {
			}
			m.Request = time.Now().UnixNano()
		}
		time.Sleep(rest)
	}
	return nil
}

// hold takes the lock and works. It reports false when the lease ended before the work did.
func hold(conn net.PacketConn, server net.Addr, m message, start time.Time) bool {
	for !call(conn, server, "acquire", &m, start, time.Now().Add(tick)) {
	}
	lease := start.Add(m.Sent + leaseTime)
	if !time.Now().Before(lease) {
		return false
	}
	m.Holds = true
	fmt.Printf("holds %s %s\n", m.Lock, m.Mode)
	defer fmt.Printf("no longer holds %s\n", m.Lock)
	for done := time.Now().Add(work); time.Now().Before(done); {
		next := time.Now().Add(tick)
		for _, t := range []time.Time{lease, done} {
			if t.Before(next) {
				next = t
			}
		}
		if call(conn, server, "acquire", &m, start, next) {
			if t := start.Add(m.Sent + leaseTime); t.After(lease) {
				lease = t
			}
			wait(next)
		}
		if !time.Now().Before(lease) {
			return false
		}
	}
	return true
}

func wait(until time.Time) { time.Sleep(time.Until(until)) }

// call asks the server once, and reports whether it has granted that. Then m.Sent is the time of
// the question that was answered, which may be an earlier one.
func call(conn net.PacketConn, server net.Addr, kind string, m *message, start, until time.Time) bool {
	m.Kind, m.Sent = kind, time.Since(start)
	send(conn, server, *m)
	for {
		a, _, ok := receive(conn, until)
		if ok && a.Request == m.Request &&
			(kind == "acquire" && a.Kind == "granted" || kind == "release" && a.Kind == "released") {
			m.Sent = a.Sent
			return true
		}
		if !ok && !time.Now().Before(until) {
			return false
		}
	}
}
