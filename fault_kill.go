package ariadne

import "fmt"

// Killed is the name of the kind of fault that kills a process.
const Killed = "kill"

// Kill is a fault that kills one of a node's processes.
type Kill struct {
	Process string // as in Output.Processes
}

// Kind implements NodeFault.
func (Kill) Kind() string { return Killed }

// What names the process, as in server#2.
func (k Kill) What() string { return k.Process }

func init() {
	registerNodeFault(Killed, func(what string) (NodeFault, error) {
		if what == "" || Plain(what) != what {
			return nil, fmt.Errorf("%q is no process", what)
		}
		return Kill{what}, nil
	}, faultOption(5, func(k Kill) bool { return k.Process != "" },
		func(k Kill, b []byte) []byte { return appendText(b, k.Process) },
		func(d *decoder, _ Kill) Kill { return Kill{string(d.text())} }))
}
