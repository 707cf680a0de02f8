package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
)

// watchedRates are how many calls of a function a watch sees in a second.
var watchedRates = []int{100, 1000, 10_000}

// measureRates measures what it costs a server of Redis that each of its commands is exposed by a
// call of a function, at some rates, with each message or not: processor time for each command, and
// of a processor. Rounds without a watch, and with one in each way, take turns. The watch itself
// takes a share of one processor.
func (b *bench) measureRates() error {
	if os.Getuid() != 0 {
		b.missing = append(b.missing, "watch_exposure: probes need root")
		return nil
	}
	if !b.fetch("examples/redis-source/functions.yaml") {
		return nil
	}
	s, err := b.serveRedis()
	if err != nil {
		return err
	}
	defer s.stop()
	for _, rate := range watchedRates {
		ways := []watchWay{byCalls, byCallsMessages}
		exposure, share, own := map[watchWay][]float64{}, map[watchWay][]float64{}, map[watchWay][]float64{}
		for range max(b.repeat, 3) {
			without, err := b.loadAt(s, rate, "")
			if err != nil {
				return err
			}
			for _, way := range ways {
				with, err := b.loadAt(s, rate, way)
				if err != nil {
					return err
				}
				more := with.perWrite - without.perWrite
				exposure[way], share[way] = append(exposure[way], more*1e6), append(share[way], more*float64(rate))
				own[way] = append(own[way], with.watch)
			}
		}
		for _, way := range ways {
			name := map[watchWay]string{byCalls: "redis", byCallsMessages: "redis_messages"}[way]
			b.keep(fmt.Sprintf("watch_exposure.%s.%d", name, rate), "us", exposure[way])
			b.keep(fmt.Sprintf("watch_exposures.%s.%d", name, rate), "", share[way])
			b.keep(fmt.Sprintf("watch_processor.%s.%d", name, rate), "", own[way])
		}
	}
	return nil
}

// serveRedis starts a server on a port of the loopback interface.
func (b *bench) serveRedis() (*served, error) {
	dir, err := os.MkdirTemp("", "bench-watch-")
	if err != nil {
		return nil, err
	}
	s := &served{dir: dir, addr: "127.0.0.1:63791"}
	s.cmd = child.Command(b.ctx, "examples/redis-source/bin/redis-server", "--port", "63791", "--save", "",
		"--logfile", filepath.Join(dir, "log"))
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			return s, c.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	return nil, errors.New("redis-server did not begin to serve within 10 s")
}

// loadAt has clients write at a rate, watched in some way.
func (b *bench) loadAt(s *served, rate int, way watchWay) (l watchedLoad, err error) {
	own := time.Duration(0)
	pid := 0
	if way != "" {
		var out bytes.Buffer
		watch, err := b.beginWatch(s, way, "  put: {function: call, fields: {arguments: c.argc}}",
			"len(failed) > 0 and len(put) > 0", &out)
		if err != nil {
			return l, err
		}
		pid = watch.Process.Pid
		defer func() { err = errors.Join(err, endWatch(watch, way, &out, int(l.writes*watchedRound.Seconds()))) }()
		if own, err = processorTime(pid); err != nil {
			return l, err
		}
	}
	before, err := processorTime(s.cmd.Process.Pid)
	if err != nil {
		return l, err
	}
	began := time.Now()
	n, err := s.setAt(rate, watchedRound)
	if err != nil {
		return l, err
	}
	took := time.Since(began).Seconds()
	after, err := processorTime(s.cmd.Process.Pid)
	if err != nil {
		return l, err
	}
	l.writes, l.perWrite = float64(n)/watchedRound.Seconds(), (after-before).Seconds()/float64(n)
	if way != "" {
		ownAfter, err := processorTime(pid)
		if err != nil {
			return l, err
		}
		l.watch = (ownAfter - own).Seconds() / took
	}
	return l, nil
}

// setAt has eight clients of Redis set a value at a rate, each after the answer to its last one.
func (s *served) setAt(rate int, d time.Duration) (writes int, err error) {
	const clients = 8
	began := time.Now()
	var wg sync.WaitGroup
	var counts [clients]int
	var wrong [clients]error
	for i := range clients {
		wg.Go(func() {
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				wrong[i] = err
				return
			}
			answers := bufio.NewReader(c)
			next := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
			for time.Since(began) < d && err == nil {
				time.Sleep(time.Until(next))
				next = next.Add(clients * time.Second / time.Duration(rate))
				var answer string
				if _, err = io.WriteString(c, "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n"); err == nil {
					answer, err = answers.ReadString('\n')
				}
				if err == nil && !strings.HasPrefix(answer, "+OK") {
					err = fmt.Errorf("redis-server answers %q", answer)
				}
				counts[i]++
			}
			wrong[i] = errors.Join(err, c.Close())
		})
	}
	wg.Wait()
	for _, n := range counts {
		writes += n
	}
	return writes, errors.Join(wrong[:]...)
}
