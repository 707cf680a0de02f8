module bboltrollback

go 1.26.0

require go.etcd.io/bbolt v1.3.3

require golang.org/x/sys v0.49.0 // indirect
