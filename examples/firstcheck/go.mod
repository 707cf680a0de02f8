module example.org/seats

go 1.25
