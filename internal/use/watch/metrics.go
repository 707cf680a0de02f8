package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics gives the counts of a watch to Prometheus.
type Metrics struct {
	statuses func() []*Status
	nodes    []string
	server   *http.Server
	at       net.Addr
	ended    chan error
}

var (
	descRecords  = metric("records_total", "Records of agents that the verifier of the property has read.")
	descEvents   = metric("events_total", "Records that changed what the property reads.")
	descMessages = metric("read_messages_total", "Messages of the log that the process that judges the property now has read for it.")
	descBytes    = metric("read_bytes_total", "Bytes of these messages.")
	descMoments  = metric("moments_total", "Moments by what came of them: judged, undecided, brief, unknown or turning.", "outcome")
	descFound    = metric("violations_total", "Violations that were found.")
	descBroken   = metric("broken", "1 if the property did not hold in the last moment that was judged.")
	descDoubts   = metric("doubts", "Reasons for which the result is inconclusive.")
	descNumber   = metric("number", "The last value of a property that is a number.")
	descUp       = prometheus.NewDesc("ariadne_watch_node_up", "1 if the node runs, as far as it is judged.",
		[]string{"node"}, nil)
)

// metric describes a value of each property.
func metric(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("ariadne_watch_"+name, help, append([]string{"property"}, more...), nil)
}

// ServeMetrics answers requests for /metrics at an address, as in "127.0.0.1:9464". statuses
// returns what came of the properties so far; nodes are the nodes' names.
func ServeMetrics(address string, nodes []string, statuses func() []*Status) (*Metrics, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	m := &Metrics{statuses: statuses, nodes: nodes, at: l.Addr(), ended: make(chan error, 1)}
	r := prometheus.NewRegistry()
	r.MustRegister(m)
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { m.ended <- m.server.Serve(l) }()
	return m, nil
}

// Addr is where the metrics are.
func (m *Metrics) Addr() net.Addr { return m.at }

// Close ends the server.
func (m *Metrics) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := m.server.Shutdown(ctx)
	if ended := <-m.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descRecords, descEvents, descMoments, descFound, descBroken, descDoubts,
		descNumber, descUp, descMessages, descBytes} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	up := make([]bool, len(m.nodes))
	for _, s := range m.statuses() {
		tell := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, kind, value, append([]string{s.Name}, labels...)...)
		}
		tell(descRecords, prometheus.CounterValue, float64(s.Records))
		tell(descEvents, prometheus.CounterValue, float64(s.Events))
		tell(descMessages, prometheus.CounterValue, float64(s.Traffic.Messages))
		tell(descBytes, prometheus.CounterValue, float64(s.Traffic.Bytes))
		for _, o := range []struct {
			name  string
			count int
		}{{"judged", s.Judged}, {"undecided", s.Undecided}, {"brief", s.Brief}, {"unknown", s.Unknown},
			{"turning", s.Turning}} {
			tell(descMoments, prometheus.CounterValue, float64(o.count), o.name)
		}
		tell(descFound, prometheus.CounterValue, float64(s.Findings))
		tell(descBroken, prometheus.GaugeValue, btof(s.Broken))
		tell(descDoubts, prometheus.GaugeValue, float64(len(s.Doubts)))
		if s.Number != nil && len(s.Number.Points) > 0 && s.Number.Left == 0 {
			if v := s.Number.Points[len(s.Number.Points)-1].Value; v != nil {
				tell(descNumber, prometheus.GaugeValue, *v)
			}
		}
		for i := range s.Up {
			up[i] = up[i] || s.Up[i]
		}
	}
	for i, name := range m.nodes {
		to <- prometheus.MustNewConstMetric(descUp, prometheus.GaugeValue, btof(up[i]), name)
	}
}

func btof(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
