package main

import (
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	events := `
{"Action":"build-output","Output":"# broken\n"}
{"Action":"run","Package":"a","Test":"One"}
{"Action":"output","Package":"a","Test":"One","Output":"=== RUN   One\n"}
{"Action":"output","Package":"a","Test":"One","Output":"    one_test.go:3: needs redis-server\n"}
{"Action":"output","Package":"a","Test":"One","Output":"--- SKIP: One (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"One"}
{"Action":"output","Package":"a","Test":"Two","Output":"    one_test.go:9: needs redis-server\n"}
{"Action":"skip","Package":"a","Test":"Two"}
{"Action":"skip","Package":"a","Test":"Three"}
{"Action":"output","Package":"a","Test":"Four","Output":"fine\n"}
{"Action":"pass","Package":"a","Test":"Four"}
{"Action":"output","Package":"a","Output":"PASS\n"}
{"Action":"output","Package":"a","Output":"ok  \ta\t0.1s\n"}
{"Action":"pass","Package":"a"}
{"Action":"output","Package":"b","Test":"Five","Output":"    five_test.go:1: wrong\n"}
{"Action":"fail","Package":"b","Test":"Five"}
{"Action":"output","Package":"b","Output":"FAIL\tb\t0.2s\n"}
{"Action":"fail","Package":"b"}
`
	want := `# broken
ok  	a	0.1s
    five_test.go:1: wrong
FAIL	b	0.2s

skipped tests, by reason:
     2  needs redis-server
     1  no reason given

packages:
ok  	a	0.1s
FAIL	b	0.2s
`
	var got strings.Builder
	summarize(strings.NewReader(events), &got)
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
}
