module watch

go 1.26.0
