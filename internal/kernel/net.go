package kernel

// Net is the node's network stack.
type Net struct{}

func (s *Net) init(n *Node) {}
