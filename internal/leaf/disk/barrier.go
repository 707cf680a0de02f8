package disk

// Changes reports whether the operation changes anything that a power loss can take back.
func (o *Op) Changes() bool { return o.changes() }

// Barrier reports whether the operation makes others durable, by some model.
func (o *Op) Barrier() bool { return o.Kind.syncs() }
