package probe

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system/native"
)

// TestStrikes: a process of the node is killed right behind the call at the place that was asked
// for, and places count once. Other processes go on.
func TestStrikes(t *testing.T) {
	k := open(t)
	var all []Struck
	if err := k.PrepareStrikes(func(s Struck) { all = append(all, s) }); err != nil {
		t.Fatal(err)
	}
	path := build(t)
	for places, want := range map[int]int{1: 0, 2: 1, 3: 4} {
		t.Run(fmt.Sprint(places), func(t *testing.T) {
			all = nil
			own, other := start(t, path), start(t, path)
			own.killed = true
			if err := k.Follow(3, own.Process.Pid); err != nil {
				t.Fatal(err)
			}
			if err := k.Follow(4, other.Process.Pid); err != nil {
				t.Fatal(err)
			}
			before := native.Now()
			if err := k.Strike(3, places); err != nil {
				t.Fatal(err)
			}
			// A line has two places: it writes an error, and then an answer.
			answers := 0
			for _, text := range []string{"once", "again", "again", "loop 1"} {
				other.call(text)
				fmt.Fprintln(own.in, text)
				if places == 3 && text != "loop 1" || places == 2 && text == "once" {
					if !own.out.Scan() {
						t.Fatalf("there is no answer to %s", text)
					}
					answers++
				}
			}
			for own.out.Scan() {
				answers++
			}
			for range 100 {
				if calls(t, k); len(all) > 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if len(all) != 1 || all[0].Node != 3 || all[0].Call != "write" || all[0].At < before ||
				all[0].At > native.Now() {
				t.Fatalf("%+v", all)
			}
			if answers != want {
				t.Errorf("%d answers, want %d", answers, want)
			}
			other.call("still there")
		})
	}
	for range 2 { // one that waits, and none
		left, err := k.EndStrike()
		if err != nil || left != 0 {
			t.Errorf("%d places are left: %v", left, err)
		}
	}
	other := start(t, path)
	if err := errors.Join(k.Follow(5, other.Process.Pid), k.Strike(5, 10)); err != nil {
		t.Fatal(err)
	}
	other.call("goes on")
	if left, err := k.EndStrike(); left != 8 || err != nil {
		t.Errorf("%d places are left, want 8: %v", left, err)
	}
	other.call("goes on")
}
