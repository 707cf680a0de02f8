// Command seats sells the seats of a theatre: a store, and two shops in front of it. It is the
// program of docs/first-check.md, and its shops have a bug.
//
//	seats store            keeps the owner of each seat
//	seats shop STORE       sells seats
//	seats audit SHOP SHOP  two customers at two shops want one seat; only one of them may get it
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

func main() {
	log.SetFlags(0)
	usage := errors.New("usage: seats store | shop STORE | audit SHOP SHOP")
	err := usage
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "store":
		err = http.ListenAndServe(":8000", &store{owner: map[string]string{}})
	case len(args) == 2 && args[0] == "shop":
		err = http.ListenAndServe(":8000", shop{store: "http://" + args[1] + ":8000"})
	case len(args) == 3 && args[0] == "audit":
		err = audit("http://"+args[1]+":8000", "http://"+args[2]+":8000")
	}
	if err != nil {
		log.Fatal("seats: ", err)
	}
}

// store keeps the owner of each seat. GET /SEAT returns the owner; PUT /SEAT sets the owner.
type store struct {
	mu    sync.Mutex
	owner map[string]string
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch seat := r.URL.Path; r.Method {
	case http.MethodGet:
		io.WriteString(w, s.owner[seat])
	case http.MethodPut:
		s.owner[seat] = r.URL.Query().Get("owner")
		log.Printf("seat %s belongs to %s", seat, s.owner[seat])
	}
}

// shop sells seats. POST /SEAT?owner=NAME returns the owner of the seat after the sale.
type shop struct{ store string }

func (s shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seat, customer := r.URL.Path, r.URL.Query().Get("owner")
	owner := ask(http.MethodGet, s.store+seat)
	if owner == "" { // the seat is free
		ask(http.MethodPut, s.store+seat+"?owner="+customer)
		owner = customer
	}
	io.WriteString(w, owner)
}

// audit lets ann and bob buy the same seat at two shops, and fails if both get it.
func audit(first, second string) error {
	var anns, bobs string
	var wait sync.WaitGroup
	wait.Go(func() { anns = ask(http.MethodPost, first+"/A1?owner=ann") })
	wait.Go(func() {
		time.Sleep(100 * time.Millisecond) // bob comes later
		bobs = ask(http.MethodPost, second+"/A1?owner=bob")
	})
	wait.Wait()
	if anns != bobs {
		return fmt.Errorf("seat A1 was sold twice: ann's shop says %s, bob's shop says %s", anns, bobs)
	}
	log.Printf("seat A1 was sold to %s", anns)
	return nil
}

// ask sends a request, and sends it again until a server answers it.
func ask(method, url string) string {
	for ; ; time.Sleep(time.Second) {
		request, err := http.NewRequest(method, url, nil)
		if err != nil {
			log.Fatal("seats: ", err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err == nil && response.StatusCode == http.StatusOK {
			return string(body)
		}
	}
}
