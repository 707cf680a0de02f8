package main

import (
	"errors"
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/watch"

	"github.com/spf13/cobra"
)

func (a *app) agentCommand() *cobra.Command {
	var o watch.AgentOptions
	cmd := &cobra.Command{
		Use:   "agent SPEC",
		Short: "Tell ariadne watch on another machine what nodes of this machine expose",
		Long: `Follows nodes of a spec that run on this machine, and writes what they expose to the log of an
ariadne watch. watch: nodes: in the spec says how the nodes are found. Ends with the watch, or when
it is interrupted.

Exit status: 0 the watch has ended, or an interrupt, 2 anything else, which is said.`,
		Example: `  ariadne agent spec.yaml --log nats://10.0.0.1:4222 --node n1`,
		Args:    exactly("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Log == "" || len(o.Nodes) == 0 {
				return usageError{errors.New("an agent needs --log URL of the watch's log, and --node NAME of each node of this machine")}
			}
			if (o.TLS.Cert == "") != (o.TLS.Key == "") {
				return usageError{errors.New("agent: --tls-cert and --tls-key go together: give both")}
			}
			s, err := spec.Read(args[0])
			if err != nil {
				return err
			}
			o.OnWait = func(text string) { fmt.Fprintf(a.err, "ariadne: %s\n", text) }
			o.OnBegin = func() { fmt.Fprintf(a.out, "watching %s for %s\n", plural(len(o.Nodes), "node"), s.Path) }
			asked := reloads()
			go func() {
				for range asked {
					fmt.Fprintln(a.err, "ariadne: an agent gets other properties from the watch: send SIGHUP to ariadne watch")
				}
			}()
			return watch.RunAgent(cmd.Context(), s, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Log, "log", "", "the `URL` of the watch's log, as ariadne watch prints it")
	f.StringVar(&o.Name, "name", "", "`name` of the watch (default: that of the spec)")
	tlsFlags(f, &o.TLS, "", "")
	f.StringSliceVar(&o.Nodes, "node", nil, "a node that runs on this machine; may be given more than once")
	return cmd
}
