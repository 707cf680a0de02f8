// Command member is a member of a group that memberlist keeps, and says whom it sees.
//
//	member NAME INTERVAL SEED...   joins by the seeds, and exchanges its whole state each INTERVAL
//
// Whom it sees comes and goes by the lines "sees NODE" and "lost NODE".
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/hashicorp/memberlist"
)

func main() {
	err := errors.New("usage: member NAME INTERVAL SEED...")
	if len(os.Args) > 3 {
		err = member(os.Args[1], os.Args[2], os.Args[3:])
	}
	fmt.Fprintln(os.Stderr, "member:", err)
	os.Exit(1)
}

func member(name, interval string, seeds []string) error {
	config := memberlist.DefaultLANConfig()
	config.Name = name
	config.LogOutput = io.Discard
	config.Events = sight{}
	var err error
	if config.PushPullInterval, err = time.ParseDuration(interval); err != nil {
		return err
	}
	address, err := net.ResolveIPAddr("ip4", name)
	if err != nil {
		return err
	}
	config.BindAddr = address.String()
	list, err := memberlist.Create(config)
	if err != nil {
		return err
	}
	for {
		if _, err := list.Join(seeds); err == nil {
			break
		}
		time.Sleep(time.Second)
	}
	select {}
}

// sight says whom the member sees.
type sight struct{}

func (sight) NotifyJoin(n *memberlist.Node)   { fmt.Println("sees", n.Name) }
func (sight) NotifyLeave(n *memberlist.Node)  { fmt.Println("lost", n.Name) }
func (sight) NotifyUpdate(n *memberlist.Node) {}
