// Command cart is a shop that holds an item for a buyer, and a bank that it asks for the payment.
//
//	cart bank
//	cart shop [sweeping]
//	cart client
//
// A hold lasts 2 s. A hold that has ended is swept when the next buyer comes, and its item is for
// sale again. A hold whose payment is under way is not swept. A sweeping shop sweeps it too, so
// that it sells the item twice.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"planted/lines"
)

const (
	items = 1
	held  = 2 * time.Second
)

func main() {
	switch os.Args[1] {
	case "bank":
		var mu sync.Mutex
		lines.Serve(":7001", &mu, func(c *lines.Conn, words []string) { c.Say("paid %s", words[1]) })
	case "shop":
		shop(len(os.Args) > 2)
	case "client":
		client()
	}
}

// hold is an item that waits for the payment of a buyer.
type hold struct {
	buyer  *lines.Conn
	until  time.Time
	paying bool
}

func shop(sweeping bool) {
	var mu sync.Mutex
	free, sold, last := items, 0, 0
	holds := map[int]*hold{}  // by number
	paying := map[int]*hold{} // what the bank was asked for
	bank := lines.Dial("bank:7001")
	go func() {
		for words := bank.Hear(); words != nil; words = bank.Hear() {
			mu.Lock()
			n, _ := strconv.Atoi(words[1])
			if sold++; sold > items {
				lines.Fail("%d of %d items are sold", sold, items)
			}
			paying[n].buyer.Say("sold")
			delete(paying, n)
			delete(holds, n)
			mu.Unlock()
		}
	}()
	lines.Serve(":7000", &mu, func(c *lines.Conn, words []string) {
		now := time.Now()
		if words[0] == "hold" {
			for n, h := range holds {
				if now.After(h.until) && (sweeping || !h.paying) {
					delete(holds, n)
					free++
				}
			}
			if free == 0 {
				c.Say("none")
				return
			}
			free--
			last++
			holds[last] = &hold{buyer: c, until: now.Add(held)}
			c.Say("held %d", last)
			return
		}
		n, _ := strconv.Atoi(words[1])
		h := holds[n]
		if h == nil || now.After(h.until) {
			c.Say("late")
			return
		}
		h.paying, paying[n] = true, h
		bank.Say("pay %d", n)
	})
}

func client() {
	shop := lines.Dial("shop:7000")
	for range 3 {
		answer := shop.Ask("hold")
		if answer[0] == "held" {
			fmt.Println(shop.Ask("buy %s", answer[1])[0])
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	fmt.Println("sold out")
}
