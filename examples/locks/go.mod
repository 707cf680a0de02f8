module locks

go 1.26.0
