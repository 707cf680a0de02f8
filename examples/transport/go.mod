module transport

go 1.26.0
