module watchclient

go 1.26.0
