module election

go 1.26.0
