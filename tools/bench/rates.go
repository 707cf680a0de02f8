package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/child"
)

// watchedRates are how many calls of a function a watch sees in a second. etcd does not answer ten
// thousand writes in a second on small machines.
var watchedRates = []struct {
	server string
	spec   string // of which the server is
	serve  func(*bench) (*served, error)
	rates  []int
}{
	{"redis", "examples/redis-source/functions.yaml", (*bench).serveRedis, []int{100, 1000, 10_000}},
	{"etcd", "examples/etcd/etcd-3.5.yaml", (*bench).serveEtcd, []int{100, 1000}},
}

// measureRates measures what it costs a server that each of its commands is exposed by a call of a
// function, at some rates, with each message or not, and with probes that are taken out: processor
// time for each command, of what the command costs without a watch, and of a processor. Rounds
// without a watch, and with one in each way, take turns. The watch itself takes a share of one
// processor.
func (b *bench) measureRates() error {
	if os.Getuid() != 0 {
		b.missing = append(b.missing, "watch_exposure: probes need root")
		return nil
	}
	for _, w := range watchedRates {
		if !b.fetch(w.spec) {
			continue
		}
		s, err := w.serve(b)
		if err != nil {
			return err
		}
		err = b.measureRatesOf(s, w.server, w.rates)
		s.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) measureRatesOf(s *served, server string, rates []int) error {
	ways := []watchWay{byCalls, byCallsMessages, byPausedCalls}
	measured := map[string][]float64{}
	for range max(b.repeat, 3) {
		without, err := b.loadWatched(s, "", rates...)
		if err != nil {
			return err
		}
		for _, way := range ways {
			with, err := b.loadWatched(s, way, rates...)
			if err != nil {
				return err
			}
			name := map[watchWay]string{byCalls: server, byCallsMessages: server + "_messages",
				byPausedCalls: server + "_paused"}[way]
			for i, rate := range rates {
				enter := func(what string, v float64) {
					key := fmt.Sprintf("%s.%s.%d", what, name, rate)
					measured[key] = append(measured[key], v)
				}
				more := with[i].perWrite - without[i].perWrite
				enter("watch_exposure", more*1e6)
				enter("watch_exposure_ratio", more/without[i].perWrite)
				enter("watch_exposures", more*float64(rate))
				enter("watch_processor", with[i].watch)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(measured)) {
		unit := ""
		if strings.HasPrefix(key, "watch_exposure.") {
			unit = "us"
		}
		b.keep(key, unit, measured[key])
	}
	return nil
}

// serveRedis starts a server on a port of the loopback interface.
func (b *bench) serveRedis() (*served, error) {
	dir, err := os.MkdirTemp("", "bench-watch-")
	if err != nil {
		return nil, err
	}
	s := &served{dir: dir, addr: "127.0.0.1:63791", clients: 8, dial: dialRedis,
		call: "{function: call, fields: {arguments: c.argc}}"}
	s.cmd = child.Command(b.ctx, "examples/redis-source/bin/redis-server", "--port", "63791", "--save", "",
		"--logfile", filepath.Join(dir, "log"))
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	return s, s.serves()
}

// dialRedis begins a client with a connection of its own.
func dialRedis(s *served) (*writer, error) {
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	answers := bufio.NewReader(c)
	return &writer{
		write: func() error {
			if _, err := io.WriteString(c, "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n"); err != nil {
				return err
			}
			answer, err := answers.ReadString('\n')
			if err == nil && !strings.HasPrefix(answer, "+OK") {
				err = fmt.Errorf("redis-server answers %q", answer)
			}
			return err
		},
		close: c.Close,
	}, nil
}
