// Command client publishes two messages to a channel, half a second apart, and then reads all that
// the channel has. It prints its requests and their answers as lines. It repeats a request that
// gets no answer.
package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/stan.go"
)

const channel = "news"

func main() {
	for _, text := range []string{"one", "two"} {
		fmt.Println("add", text)
		until(func(id string) error { return publish(id, text) }, text)
		fmt.Println("ok")
		time.Sleep(500 * time.Millisecond)
	}
	fmt.Println("read")
	var seen []string
	until(func(id string) (err error) { seen, err = read(id); return err }, "reader")
	fmt.Println("ok", strings.Join(seen, " "))
}

// until makes a request as often as it takes, each time as another client.
func until(request func(id string) error, id string) {
	for try := 0; request(fmt.Sprint(id, "-", try)) != nil; try++ {
		time.Sleep(200 * time.Millisecond)
	}
}

// connect returns a connection to the server's process that runs now, and what closes it.
func connect(id string) (stan.Conn, func(), error) {
	link, err := nats.Connect("nats://stan:4222", nats.NoReconnect())
	if err != nil {
		return nil, nil, err
	}
	conn, err := stan.Connect("test-cluster", id, stan.NatsConn(link), stan.PubAckWait(2*time.Second),
		stan.ConnectWait(2*time.Second))
	if err != nil {
		link.Close()
		return nil, nil, err
	}
	return conn, link.Close, nil
}

func publish(id, text string) error {
	conn, end, err := connect(id)
	if err != nil {
		return err
	}
	defer end()
	return conn.Publish(channel, []byte(text))
}

// read returns what is delivered until nothing has been for a second, and the server is still
// there.
func read(id string) ([]string, error) {
	conn, end, err := connect(id)
	if err != nil {
		return nil, err
	}
	defer end()
	messages := make(chan string, 64)
	if _, err := conn.Subscribe(channel, func(m *stan.Msg) { messages <- string(m.Data) },
		stan.DeliverAllAvailable()); err != nil {
		return nil, err
	}
	var seen []string
	for {
		select {
		case text := <-messages:
			seen = append(seen, text)
		case <-time.After(time.Second):
			if err := conn.NatsConn().FlushTimeout(2 * time.Second); err != nil {
				return nil, err
			}
			slices.Sort(seen)
			return slices.Compact(seen), nil
		}
	}
}
