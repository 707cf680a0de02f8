package coverage

import (
	"fmt"
	"io"
)

// Header is the first line of the CSV.
const Header = "seconds,paths,steps,traces,states,local_states,protocol_states,protocol_combinations,executed,remembered\n"

// WriteCSV writes samples as lines, without the header.
func WriteCSV(w io.Writer, samples []Sample) error {
	for _, s := range samples {
		if _, err := fmt.Fprintf(w, "%.3f,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", s.Elapsed.Seconds(),
			s.Paths, s.Steps, s.Traces, s.States, s.Locals, s.Protocol, s.Global, s.Executed, s.Known); err != nil {
			return err
		}
	}
	return nil
}
