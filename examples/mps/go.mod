module mps

go 1.26.0
