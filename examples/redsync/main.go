// Command count counts with others: it takes a lock of go-redsync, reads a number from Redis, and
// writes the next one. The lock is a lease: Redis ends it five seconds after it was taken, whatever
// its client does meanwhile. So two clients must never write the same number, and the client has to
// know whether its lease is over:
//
//	count valid     asks Redis before it writes (Mutex.Valid)
//	count until     reads its own clock before it writes (Mutex.Until)
//	count fenced    has Redis write only if the lock is still the client's
//
// Only the last one is right. Valid is deprecated: the lease may end while the answer is on its
// way (https://github.com/go-redsync/redsync/issues/72). Until is right when it is read, and the
// write may still come after the end of the lease.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const (
	lease  = 5 * time.Second
	rounds = 2
)

// write writes only if the lock is the caller's.
var write = redis.NewScript(`
	if redis.call("get", KEYS[1]) ~= ARGV[1] then
		return 0
	end
	redis.call("set", KEYS[2], ARGV[2])
	return 1`)

var errOver = errors.New("the lease is over")

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: count valid | until | fenced")
		os.Exit(2)
	}
	// An answer that is late is waited for, and nothing is sent twice.
	client := redis.NewClient(&redis.Options{
		Addr: "redis:6379", MaxRetries: -1, DialTimeout: time.Minute, ReadTimeout: -1, WriteTimeout: -1,
		ContextTimeoutEnabled: false, PoolSize: 1, DisableIdentity: true,
	})
	locks := redsync.New(goredis.NewPool(client))
	for range rounds {
		n, err := count(client, locks, os.Args[1])
		if err != nil {
			fmt.Println("not counted:", err)
			time.Sleep(time.Second)
			continue
		}
		fmt.Println("counted", n)
	}
}

// count counts once.
func count(client *redis.Client, locks *redsync.Redsync, check string) (n int, err error) {
	ctx := context.Background()
	lock := locks.NewMutex("lock", redsync.WithExpiry(lease), redsync.WithTries(8),
		redsync.WithRetryDelay(time.Second))
	if err := lock.Lock(); err != nil {
		return 0, err
	}
	defer lock.Unlock()
	n, err = client.Get(ctx, "n").Int()
	if err != nil && err != redis.Nil {
		return 0, err
	}
	n++
	switch check {
	case "valid":
		if ok, err := lock.Valid(); err != nil || !ok {
			return 0, errors.Join(err, errOver)
		}
	case "until":
		if !time.Now().Before(lock.Until()) {
			return 0, errOver
		}
	case "fenced":
		written, err := write.Eval(ctx, client, []string{"lock", "n"}, lock.Value(), n).Int()
		if err != nil || written == 0 {
			return 0, errors.Join(err, errOver)
		}
		return n, nil
	}
	return n, client.Set(ctx, "n", n, 0).Err()
}
