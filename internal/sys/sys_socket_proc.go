package sys

import "ariadne/internal/kernel"

func init() {
	for _, name := range kernel.NetTables {
		systemFiles["net/"+name] = func(v *view) string {
			s, _ := v.caller.Node().NetTable(name)
			return s
		}
	}
}
