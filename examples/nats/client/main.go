// Command client makes a JetStream stream of three replicas, publishes five
// messages by one server, and reads them back by another.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const messages = 5

func main() {
	if err := check(); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func check() error {
	writer, err := connect("nats://n1:4222")
	if err != nil {
		return err
	}
	stream := jetstream.StreamConfig{Name: "greetings", Subjects: []string{"greet.*"}, Replicas: 3}
	if err := retry("create the stream", func(ctx context.Context) error {
		_, err := writer.CreateStream(ctx, stream)
		return err
	}); err != nil {
		return err
	}
	for i := range messages {
		if err := retry("publish", func(ctx context.Context) error {
			// The id makes a message that is sent again no second message.
			_, err := writer.Publish(ctx, "greet.world", text(i), jetstream.WithMsgID(fmt.Sprint(i)))
			return err
		}); err != nil {
			return err
		}
	}
	fmt.Println("published", messages, "messages at n1")

	reader, err := connect("nats://n3:4222")
	if err != nil {
		return err
	}
	for i := range messages {
		var got *jetstream.RawStreamMsg
		if err := retry("read", func(ctx context.Context) (err error) {
			s, err := reader.Stream(ctx, stream.Name)
			if err == nil {
				got, err = s.GetMsg(ctx, uint64(i+1))
			}
			return err
		}); err != nil {
			return err
		}
		if string(got.Data) != string(text(i)) {
			return fmt.Errorf("%q was acknowledged as message %d, then n3 answered %q", text(i), i+1, got.Data)
		}
	}
	fmt.Println("read back", messages, "messages at n3")
	return nil
}

func text(i int) []byte { return fmt.Appendf(nil, "hello %d", i) }

func connect(url string) (jetstream.JetStream, error) {
	conn, err := nats.Connect(url, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(200*time.Millisecond))
	if err != nil {
		return nil, err
	}
	return jetstream.New(conn)
}

// retry calls do until it succeeds, for a minute. A try takes two seconds at most.
func retry(what string, do func(context.Context) error) error {
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		err := do(ctx)
		cancel()
		if err == nil {
			return nil
		}
		if time.Since(began) > time.Minute {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}
