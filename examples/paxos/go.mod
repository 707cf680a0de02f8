module paxos

go 1.26.0
