package kernel

// WaitsOn is the open file description on which the thread waits, or nil: it waits for
// something else, or not at all. It is for people who look at a node.
func (t *Thread) WaitsOn() *OpenFile { return t.Wait.target }
